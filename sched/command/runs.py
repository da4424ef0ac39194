"""`run`, `explain`, `link` and `open`: a scenario simulated, and what came of it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sched.command.arguments import Parser, Progress, print_json, scenario_of
from sched.command.tables import print_text
from sched.command.told import explanation, overview
from sched.engine import simulate
from sched.explain import explain
from sched.external import link
from sched.fields import ScenarioError, suggestion
from sched.inversion import Inversion, analyse
from sched.log import Log
from sched.metrics import summary
from sched.model import UNLIMITED_BLOCKS
from sched.percentiles import quotable
from sched.plain import plain
from sched.ranges import axis
from sched.registry import no_such_policy
from sched.scenario import Scenario, known_policies
from sched.sizing import is_a_buffer, suggest
from sched.sizing_words import compared
from sched.view import Shown, run_by
from sched.workload import RequestList, requests

if TYPE_CHECKING:
    from sched.report import Tables

MANY = 5000
"""Above this many requests a run tells how far it is even where nobody watches."""
OUT_HELP = "write scenario.toml and four Parquet tables into this folder"


def run(words: Sequence[str]) -> int:
    """Simulate a scenario under its policies."""
    parser = Parser("run", "Every policy on the same requests.", scenario=True)
    parser.add_argument("--policies", metavar="a,b", help="only these policies, in this order")
    parser.add_argument("--seed", metavar="N", help="draw other arrivals and lengths")
    parser.add_argument("--out", metavar="DIR", type=Path, help=OUT_HELP)
    options = parser.read(words)
    scenario = scenario_of(options, policies=options.policies, seed=options.seed)
    return _shown(scenario, options.json, options.out)


def open_link(words: Sequence[str]) -> int:
    """Run the scenario that a link carries."""
    parser = Parser("open", "Runs a link's scenario.")
    parser.add_argument("query", metavar="QUERY", help="a link, or what stands behind its question mark")
    parser.add_argument("--out", metavar="DIR", type=Path, help=OUT_HELP)
    options = parser.read(words)
    is_address = "://" in options.query.partition("?")[0]
    seen, notes = run_by(urlsplit(options.query).query if is_address else options.query)
    _judged(seen)
    about_link = [note for note in notes if note not in seen.scenario.notes()]
    return _shown(seen.scenario, options.json, options.out, seen, about_link)


def _judged(seen: Shown) -> None:
    """Raise ScenarioError for a sweep or a goal in the link that cannot be."""
    for text in filter(None, (seen.vary, seen.vary2)):
        axis(text)
    if seen.goal:
        from sched.advice import goal  # whoever follows a link without a goal does not wait for it

        goal(seen.goal)


def _found(seen: Shown, log: Log) -> None:
    """Raise ScenarioError for a class or a request that the link looks at and the run does not have."""
    names = log.requests.class_names
    if seen.of and seen.of not in names:
        raise ScenarioError(f"of = {seen.of}: must be one of {', '.join(names)}", "of")
    if seen.focus:
        _named(log, seen.focus, "focus")


def _runs(scenario: Scenario) -> Iterator[tuple[str, Log, Inversion]]:
    """Every policy of the scenario over one and the same list of requests."""
    listed = requests(scenario)
    progress = Progress(slow=len(listed) > MANY)
    for number, policy in enumerate(scenario.policies, start=1):
        progress.tell(f"{policy} ({number} of {len(scenario.policies)}), {len(listed):,} requests")
        log = simulate(scenario, policy, listed)
        yield policy, log, analyse(log)
    progress.end()


def _shown(
    scenario: Scenario,
    as_json: bool,
    out: Path | None,
    seen: Shown | None = None,
    about_link: Sequence[tuple[str, str]] = (),
) -> int:
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    summaries, exported, buffers = {}, dict[str, "Tables"](), list[str]()
    for policy, log, inversion in _runs(scenario):
        if seen is not None and policy == seen.a:
            _found(seen, log)
        summaries[policy] = summary(log, scenario, inversion, in_full=as_json)
        is_limited = log.machine.kv_blocks < UNLIMITED_BLOCKS
        if log.set_aside is not None and is_limited and is_a_buffer(log, scenario):
            told = compared(suggest(scenario, log.requests), log.set_aside.kv_blocks, log.machine)
            buffers.append(f"Buffer of {policy}: {told}.")
        summaries[policy]["notes"][:0] = [{"path": path, "text": text} for path, text in about_link]
        if out is not None:
            from sched.report import tables  # Parquet: only who exports waits for it

            exported[policy] = tables(log, scenario, inversion)
    if out is not None:
        from sched.report import write

        write(out, scenario, exported)
    if as_json:
        print_json({"scenario": plain(scenario, full=True), "policies": summaries})
        return 0
    pair = (seen.a, seen.b) if seen is not None else (None, None)
    print_text("\n\n".join([overview(scenario, summaries, pair), *_about_percentiles(summaries), *buffers]))
    if out is not None:
        print_text(f"\nWritten to {out}: scenario.toml and four Parquet tables.")
    return 0


def _about_percentiles(summaries: Mapping[str, Any]) -> list[str]:
    """That a percentile in the table rests on few values, where it does."""
    few = {one["n"] for found in summaries.values() for one in found["classes"].values()}
    if not any(0 < number < quotable(99) for number in few):
        return []
    return [f"A p99 of fewer than {quotable(99):,} requests is uncertain: --json has its interval."]


def explain_request(words: Sequence[str]) -> int:
    """Why one request waited."""
    about = "Why a request waited: causes, culprits, what would have helped."
    parser = Parser("explain", about, scenario=True)
    parser.add_argument("--policy", metavar="P", required=True, help="the policy of the run")
    parser.add_argument("--request", metavar="ID", required=True, help="the request's id, such as chat-1")
    parser.add_argument("--seed", metavar="N", help="draw other arrivals and lengths")
    options = parser.read(words)
    policy = policy_named(options.policy)
    scenario = scenario_of(options, also=policy, seed=options.seed)
    log = simulate(scenario, policy, requests(scenario))
    _named(log, options.request)
    told = explain(log, analyse(log), options.request, scenario, simulate)
    if options.json:
        print_json(told)
    else:
        print_text(explanation(told))
    return 0


def _named(log: Log, name: str, key: str = "request") -> None:
    """Raise ScenarioError unless the run has a request of this name."""
    listed = log.requests
    if name in listed.ids:
        return
    pieces = [one for one, whole in zip(listed.ids, listed.parents or (), strict=False) if whole == name]
    if pieces:
        text = f"{log.policy} cuts it into {pieces[0]} to {pieces[-1]}; name one of them"
        raise ScenarioError(f"{key} = {name}: {text}", key)
    near = suggestion(name, listed.ids) or f"; ids look like {_examples(listed)}"
    raise ScenarioError(f"{key} = {name}: none of the {len(listed):,} has this id{near}", key)


def _examples(listed: RequestList) -> str:
    """The first id of each of a few classes."""
    firsts = {int(of): name for of, name in zip(listed.class_index[::-1], listed.ids[::-1], strict=True)}
    return ", ".join(firsts[of] for of in sorted(firsts)[:3])


def policy_named(key: str) -> str:
    """The key of a policy that there is. Raises ScenarioError with the nearest one."""
    if key not in known_policies():
        raise ScenarioError(no_such_policy(key), "policy")
    return key


def show_link(words: Sequence[str]) -> int:
    """A scenario as the query of a link."""
    about = "Prints a scenario as a link's query, without the question mark."
    options = Parser("link", about, scenario=True, as_json=False).read(words)
    print_text(link(_stored(scenario_of(options))))
    return 0


def _stored(scenario: Scenario) -> Scenario:
    """The scenario with its trace kept under its digest, which is all that a link can carry of a file."""
    trace = scenario.trace
    if trace is None or not trace.file:
        return scenario
    from sched.trace_store import store
    from sched.traces import of_scenario

    of_scenario(trace, scenario.urgency)  # what cannot be replayed is not stored
    return scenario.changed(trace=trace.changed(file="", digest=store(Path(trace.file))))
