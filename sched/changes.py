"""A scenario as dotted changes against its preset, such as `traffic.docs.rate_per_s = 0.3`, and back.

A table may be given part by part (`arrivals.cv = 2`) or at once (`arrivals = {kind="poisson"}`). Members of
`traffic`, `requests`, `tenants`, `classes` and `policies` go by name; `traffic = chat,docs` is the full list
in order, so a member can be added, moved or left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sched.fields import Part, ScenarioError, refuse, suggestion
from sched.files import from_plain
from sched.plain import (
    Plain,
    join_path,
    key_of,
    names_text,
    plain,
    read_names,
    read_value,
    split_path,
    split_setting,
    value_text,
)
from sched.presets import DEFAULT, named
from sched.registry import known_policies
from sched.scenario import Scenario

LISTED = {"traffic": "name", "requests": "id"}
"""Lists whose members go by this value of theirs."""
TABLES = ("tenants", "classes", "policies")
TOP = tuple(key_of(name, Scenario) for name in Scenario.model_fields)

Path = tuple[str, ...]


def changes(scenario: Scenario) -> dict[str, str]:
    """The preset and, in the schema's order, every value that differs from it, as dotted name = text.

    `read` gives the same scenario back.
    """
    found = {"scenario": scenario.link_base}
    for path, text in _differences((), named(scenario.link_base), scenario):
        found[join_path(path[1:] if path[0] == "policies" and len(path) > 2 else path)] = text
    return found


def _differences(path: Path, old: Part, new: Part) -> Iterator[tuple[Path, str]]:
    for name in type(new).model_fields:
        before, after = getattr(old, name), getattr(new, name)
        if before == after:
            continue
        here = (*path, key_of(name, new))
        if not path and name in LISTED:
            yield from _members(here, _by_name(before, LISTED[name]), _by_name(after, LISTED[name]))
        elif not path and name in TABLES:
            yield from _members(here, before, after)
        elif isinstance(after, Part) and type(before) is type(after):
            yield from _differences(here, before, after)
        elif isinstance(after, Part) and before is None:
            yield from _leaves(here, after)
        else:
            yield here, value_text(plain(after))


def _by_name(members: tuple[Any, ...], key: str) -> dict[str, Any]:
    return {getattr(member, key): member for member in members}


def _members(path: Path, old: Mapping[str, Part], new: Mapping[str, Part]) -> Iterator[tuple[Path, str]]:
    if path[0] in LISTED and new and not set(old) & set(new):
        yield path, value_text([plain(member) for member in new.values()])
        return
    if list(old) != list(new):
        yield path, names_text(new)
    for name, member in new.items():
        here = (*path, name)
        yield from _differences(here, old[name], member) if name in old else _leaves(here, member)


def _leaves(path: Path, part: Part) -> Iterator[tuple[Path, str]]:
    for key, value in plain(part).items():
        if not (path[0] in LISTED and key == LISTED[path[0]]):
            yield (*path, key), value_text(value)


def read(given: Mapping[str, str]) -> Scenario:
    """The scenario that these changes describe. Raises ScenarioError for whatever is not understood."""
    base = named(given.get("scenario", DEFAULT))
    return change(base, {key: text for key, text in given.items() if key != "scenario"})


def change(scenario: Scenario, given: Mapping[str, str]) -> Scenario:
    """The scenario with these dotted changes made; the one that is given stays as it is."""
    if not given:
        return scenario
    tree = plain(scenario)
    for key, member_key in LISTED.items():
        tree[key] = {member[member_key]: member for member in tree.get(key, [])}
    for path, text in _in_order(given):
        _apply(tree, path, text)
    for key in LISTED:
        if isinstance(tree[key], dict):
            tree[key] = list(tree[key].values())
    return from_plain(tree)


def _in_order(given: Mapping[str, str]) -> list[tuple[Path, str]]:
    """A list before its members, a table before its parts, a kind before the rest."""
    found: dict[Path, str] = {}
    for key, text in given.items():
        path = split_path(key)
        if path[0] not in TOP:
            if path[0] not in known_policies():
                refuse(f"no such setting{suggestion(path[0], [*TOP, *known_policies()])}", path[0])
            path = ("policies", *path)
        if path in found:
            refuse("given twice", key)
        found[path] = text
    return sorted(found.items(), key=lambda item: (len(item[0]), item[0][-1] != "kind"))


def _apply(tree: Plain, path: Path, text: str) -> None:
    top, value = path[0], read_value(text)
    is_inside = top in LISTED or top in TABLES
    if len(path) == 1:
        tree[top] = _whole(tree, top, text, value) if is_inside else value
    elif not is_inside:
        _set(tree, path, value, path)
    else:
        member = _member(tree, path)
        if len(path) > 2:
            _set(member, path[2:], value, path)
        else:
            own_name = {LISTED[top]: path[1]} if top in LISTED else {}
            tree[top][path[1]] = {**own_name, **value} if isinstance(value, dict) else value


def _set(node: Plain, parts: Path, value: Any, path: Path) -> None:
    for part in parts[:-1]:
        if node.get(part) is None:
            node[part] = {}
        node = node[part]
        if not isinstance(node, dict):
            refuse(f"{part} is one value and has no parts", join_path(path))
    if parts[-1] == "kind" and node.get("kind") != value:
        node.clear()
    node[parts[-1]] = value


def _whole(tree: Plain, top: str, text: str, value: Any) -> Any:
    """All members of a collection at once: a TOML list or table, or the names in order."""
    if isinstance(value, list | dict):
        if top in LISTED and isinstance(value, list):
            return _keyed(value, LISTED[top])
        if top == "policies" and isinstance(value, list):
            return {name: tree[top].get(name, {}) for name in value if isinstance(name, str)}
        return value
    known = tree.get(top) or {}
    names = read_names(text, top)
    return {name: known.get(name, {LISTED[top]: name} if top in LISTED else {}) for name in names}


def _keyed(members: list[Any], key: str) -> Any:
    """Members by name; the list as it is where that cannot be done, so that the schema says what is wrong."""
    names = [member.get(key) for member in members if isinstance(member, dict)]
    if len(set(map(str, names))) != len(members) or not all(isinstance(name, str) and name for name in names):
        return members
    return dict(zip(names, members, strict=True))


def _member(tree: Plain, path: Path) -> Plain:
    """The table of one member of a collection. Raises in words when there is none of this name."""
    top, name = path[0], path[1]
    members = tree.setdefault(top, {})
    if not isinstance(members, dict):
        refuse(f"{top} is given in a way that its members cannot be changed one by one", join_path(path))
    if name not in members:
        if top in ("tenants", "classes"):
            members[name] = {}
        elif top == "policies" and name in known_policies():
            listed = names_text([*members, name])
            refuse(
                f"this policy is not among those compared; add it with policies={listed}", join_path(path[1:])
            )
        else:
            refuse(f"{top} has nothing of this name{suggestion(name, members)}", join_path(path[:2]))
    member = members[name]
    if not isinstance(member, dict):
        refuse("is one value and has no parts", join_path(path[:2]))
    return member


def assignments(words: list[str]) -> dict[str, str]:
    """`key=value` words of a command line as changes; each key once."""
    found: dict[str, str] = {}
    for word in words:
        key, sign, text = split_setting(word)
        if not sign or not key:
            raise ScenarioError(f"{word}: must be written key=value")
        if key in found:
            refuse("given twice", key)
        found[key] = text
    return found
