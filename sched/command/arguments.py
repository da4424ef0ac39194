"""What the commands share: words into options and a scenario, answers onto standard output."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from sched.external import assignments, change, from_text, load
from sched.fields import ScenarioError, refuse, suggestion
from sched.files import read_file
from sched.plain import names_text
from sched.scenario import Scenario
from sched.sentences import NO_TEXT, NOT_UTF8, is_text

SCENARIO_HELP = "a preset's name, a TOML or JSON file, or - for standard input"
CHANGES_HELP = "changes by the names in the file and in the link, such as rescue.kv=0.15"


class Parser(argparse.ArgumentParser):
    """argparse whose complaints are one sentence, with the nearest known option."""

    def __init__(self, command: str, about: str, *, scenario: bool = False, as_json: bool = True) -> None:
        super().__init__(prog=f"python -m sched {command}", description=about, allow_abbrev=False)
        self.command = command
        if scenario:
            self.add_argument("scenario", metavar="SCENARIO", help=SCENARIO_HELP)
            self.add_argument("changes", metavar="key=value", nargs="*", help=CHANGES_HELP)
        if as_json:
            self.add_argument("--json", action="store_true", help="one JSON object for machines")

    def error(self, message: str) -> NoReturn:
        message = message.removesuffix(", key=value")  # argparse calls it required beside options
        raise ScenarioError(f"{self.command}: {message}; --help shows how it is called")

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """The options, wherever they stand among the other words. Raises ScenarioError."""
        options, unknown = self.parse_known_intermixed_args(list(words))
        for word in unknown:
            known = [name for action in self._actions for name in action.option_strings]
            name = word.partition("=")[0]
            hint = suggestion(name, known) if name.startswith("-") else ""
            refuse(f"no such option{hint}", f"{self.command}: {word}")
        for name, value in vars(options).items():
            if isinstance(value, Path) and not is_text(str(value)):
                refuse(f"{NO_TEXT}, so choose another name", f"{self.command}: {name} {value}")
        return options


def scenario_of(options: argparse.Namespace, *, also: str = "", **more: str | None) -> Scenario:
    """The scenario that the words name, with their changes and those of the options (`more`) made.

    `also` is a policy that is compared too, so that its settings can be changed.
    """
    base, given = named(options.scenario), assignments(options.changes)
    for key, text in more.items():
        if text is not None and key in given:
            refuse("given twice", key)
        given |= {} if text is None else {key: text}
    if also and also not in base.policies and "policies" not in given:
        given["policies"] = names_text([*base.policies, also])
    return change(base, given)


def named(name: str) -> Scenario:
    """A scenario by preset, by file, or from standard input (-)."""
    if name == "-":
        try:
            return from_text(sys.stdin.buffer.read().decode("utf-8"), "standard input")
        except UnicodeDecodeError:
            raise ScenarioError(f"standard input: {NOT_UTF8}") from None
    if not name:
        raise ScenarioError("scenario: name a preset, a TOML or JSON file, or - for standard input")
    if len(name) < 1000 and Path(name).is_dir():
        raise ScenarioError(f"{name}: is a folder; name a scenario file in it")
    if len(name) < 1000 and ("/" in name or "\\" in name):
        return read_file(Path(name))  # a pipe of the shell too
    return load(name)


def print_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """One JSON value, readable in any encoding. NaN and infinity cannot be in it."""
    print(json.dumps(value, allow_nan=False, indent=1))


class Progress:
    """How far a long command is, on standard error: one line that is written over in a terminal.

    Elsewhere, as in a file or a test, only what is said to be slow is told, line by line.
    """

    def __init__(self, *, slow: bool = False) -> None:
        self._overwrites = sys.stderr.isatty()
        self._speaks = slow or self._overwrites

    def tell(self, text: str) -> None:
        """Say what is being done now."""
        if self._speaks:
            start, end = ("\r\x1b[K", "") if self._overwrites else ("", "\n")
            print(f"{start}{text}", end=end, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Take the line away."""
        if self._overwrites:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
