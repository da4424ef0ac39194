"""`lockstep`, `fuzz` and `bench`: is it right, and is it fast?"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from sched.bench import FEWEST, MOST, bench
from sched.command.arguments import Parser, Progress, print_json
from sched.command.runs import policy_named
from sched.command.tables import number_text, print_text
from sched.external import to_toml
from sched.fields import ScenarioError, whole
from sched.fuzz import check, scenario_of_seed
from sched.plain import is_written_as_number
from sched.policies import POLICIES
from sched.sentences import value_text

INDEX = "INDEX.json"
"""The list of the traces in a folder is no trace."""


def lockstep(words: Sequence[str]) -> int:
    """Hold the engine against recorded decisions of the real scheduler."""
    about = "Decision by decision against traces recorded from the real scheduler."
    parser = Parser("lockstep", about, as_json=False)
    parser.add_argument("files", metavar="FILE.json", nargs="+", type=Path, help="a trace, or a folder")
    parser.add_argument("--write", action="store_true", help="keep the counts for the page (all the traces)")
    options = parser.read(words)
    files = list(_traces(options.files))
    from sched.agreement import counted, write
    from sched.lockstep import compare_file

    progress, failed = Progress(), 0
    if options.write:
        found = counted(files, progress.tell)
        progress.end()
        write(found)
        total = found["total"]
        print_text(f"{total['agreeing']} of {total['traces']} traces agree, kept for the page")
        return 0 if total["agreeing"] == total["traces"] else 1
    for number, path in enumerate(files, start=1):
        progress.tell(f"{path.name} ({number} of {len(files)})")
        try:
            difference = compare_file(path)
        except Exception as error:  # one file that the engine cannot take does not hide what the others say
            difference = f"{type(error).__name__}: {error}"
        progress.end()
        failed += bool(difference)
        print_text(f"{path.name}: {difference or 'ok'}")
    print_text(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _traces(named: Sequence[Path]) -> Iterator[Path]:
    """The traces among the files, those of a folder in order. Raises ScenarioError where there is none."""
    found = [path for one in named for path in (sorted(one.glob("*.json")) if one.is_dir() else [one])]
    for path in found:
        if not path.exists():
            raise ScenarioError(f"{path}: there is no such file")
    traces = [path for path in found if path.name != INDEX]
    if not traces:
        raise ScenarioError(f"lockstep: there is no trace among {', '.join(map(str, named))}")
    yield from traces


def number(text: str, name: str, low: int, high: int) -> int:
    """A whole number that an option names. Raises ScenarioError with its bounds."""
    try:
        value = whole(int(text if is_written_as_number(text) else ""))
    except ValueError:
        raise ScenarioError(f"{name} = {value_text(text)}: must be a whole number") from None
    if not low <= value <= high:
        raise ScenarioError(f"{name} = {value}: must be at least {low:,} and at most {high:,}")
    return value


def fuzz(words: Sequence[str]) -> int:
    """Random scenarios through every policy, each run audited."""
    parser = Parser("fuzz", "Random scenarios through every policy, audited.", as_json=False)
    parser.add_argument("--seeds", metavar="N", default="100", help="how many scenarios (seeds 0 to N - 1)")
    parser.add_argument("--seed", metavar="K", help="this scenario only")
    parser.add_argument("--policy", metavar="P", help="this policy only")
    parser.add_argument("--show", action="store_true", help="with --seed: print the scenario and run nothing")
    options = parser.read(words)
    if options.show and options.seed is None:
        raise ScenarioError("fuzz: --show needs --seed K, the scenario to print")
    seeds = range(number(options.seeds, "seeds", 1, 10**9))
    if options.seed is not None:
        only = number(options.seed, "seed", 0, 2**63 - 1)
        seeds = range(only, only + 1)
    policies = list(POLICIES) if options.policy is None else [policy_named(options.policy)]
    if options.show:
        print_text(to_toml(scenario_of_seed(seeds[0], policies)), end="")
        return 0
    progress, failed = Progress(slow=len(seeds) >= 1000), 0
    for seed in seeds:
        if seed % 100 == 0:
            progress.tell(f"seed {seed:,}, {failed:,} failed")
        failed += not _passes(seed, policies)
    progress.end()
    print_text(f"{len(seeds) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _passes(seed: int, policies: list[str]) -> bool:
    scenario = scenario_of_seed(seed)
    found = {policy: broken for policy in policies if (broken := check(scenario, policy))}
    for policy, broken in found.items():
        print_text(f"seed {seed}, {policy}: {broken[0]}")
        print_text(f"  to repeat: python -m sched fuzz --seed {seed} --policy {policy}")
    return not found


def measure(words: Sequence[str]) -> int:
    """Requests simulated per CPU second."""
    parser = Parser("bench", "The speed on this machine.")
    parser.add_argument("--requests", metavar="N", default="20000", help="how many (20000)")
    parser.add_argument("--policy", metavar="P", default="fcfs", help="under which policy (fcfs)")
    parser.add_argument("--tight", action="store_true", help="6,000 KV blocks, so that memory contends")
    options = parser.read(words)
    policy = policy_named(options.policy)
    told = bench(number(options.requests, "requests", FEWEST, MOST), policy, tight=options.tight)
    if options.json:
        print_json(told)
        return 0
    room = "little KV" if options.tight else "room in the KV"
    print_text(
        f"{told['policy']}, {told['requests']:,} requests, {room}: "
        f"{told['requests_per_cpu_s']:,.0f} requests and {told['iterations_per_cpu_s']:,.0f} iterations "
        f"per CPU second\n{told['cpu_s']:.2f} CPU s for {told['iterations']:,} iterations, "
        f"{told['jumps']:,} jumps; at most {number_text(told['peak_mb'])} MB in use"
    )
    return 0
