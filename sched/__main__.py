"""The command line: `python -m sched COMMAND ...`, run from the project's root.

Exit 0: done. 2: the user's mistake, said in one sentence on standard error. 1: our bug, or a failed check.
"""

import os
import sys
import traceback
from collections.abc import Callable, Sequence

from sched.command.anchors import anchors
from sched.command.checks import fuzz, lockstep, measure
from sched.command.experiments import compare, sweep
from sched.command.lists import list_hardware, list_policies, list_scenarios
from sched.command.papers import papers
from sched.command.recorded import read_file
from sched.command.runs import explain_request, open_link, run, show_link
from sched.command.tables import described
from sched.fields import ScenarioError, suggestion
from sched.trace_store import chosen_store, use_store
from sched.version import citation
from sched.workers import WorkersDied

DONE, BUG, MISTAKE, INTERRUPTED = 0, 1, 2, 130
COMMANDS: dict[str, tuple[Callable[[Sequence[str]], int], str]] = {
    "run": (run, "every policy on the same requests"),
    "compare": (compare, "policies over several seeds, with intervals and paired differences"),
    "sweep": (sweep, "a scenario over a grid of its values"),
    "explain": (explain_request, "why one request waited"),
    "trace": (read_file, "what is made of a recorded trace"),
    "link": (show_link, "a scenario as a link's query"),
    "open": (open_link, "a link's query, run"),
    "lockstep": (lockstep, "decision by decision against traces of the real scheduler"),
    "fuzz": (fuzz, "random scenarios through every policy, audited"),
    "papers": (papers, "published rows, run again"),
    "anchors": (anchors, "what queueing theory says of the engine, and what the engine says"),
    "bench": (measure, "the speed on this machine"),
    "policies": (list_policies, "the policies and their settings"),
    "scenarios": (list_scenarios, "the ready scenarios"),
    "hardware": (list_hardware, "the fitted hardware presets"),
}
LATER = ("tune", "engine", "calibrate", "validate")
"""Named in the design; this version does not have them."""


def usage() -> str:
    """What there is to call."""
    lines = described([(f"  {name}", about) for name, (_, about) in COMMANDS.items()])
    return (
        f"python -m sched COMMAND ...\n\n{lines}\n\nCOMMAND --help says more. Not in this version: "
        f"{', '.join(LATER)}."
    )


def dispatch(words: Sequence[str]) -> int:
    """Run the command that the first word names. Raises ScenarioError for a mistake."""
    name, rest = (words[0], words[1:]) if words else ("", ())
    if name in ("-h", "--help", "help"):
        print(usage())
        return DONE
    if name == "--version":
        print(citation())
        return DONE
    if name in LATER:
        raise ScenarioError(f"{name}: this version does not have this command yet")
    if name not in COMMANDS:
        what = f"{name}: no such command" if name else "name a command"
        raise ScenarioError(f"{what}{suggestion(name, [*COMMANDS, *LATER])}")
    return COMMANDS[name][0](rest)


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    use_store(chosen_store(os.environ.get("SCHED_STORE")))
    try:
        code = dispatch(sys.argv[1:] if words is None else words)
        print(end="", flush=True)  # whatever goes wrong with the output goes wrong here
        return code
    except ScenarioError as error:
        return _mistake(str(error))
    except BrokenPipeError:
        # Whoever read this has seen enough; the flush at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        return _mistake(f"{error.filename or 'a file'}: {error.strerror or error}")
    except WorkersDied as error:
        print(f"\n{error}", file=sys.stderr)
        return BUG
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    except SystemExit as end:  # --help
        return int(end.code or 0)
    except Exception:
        traceback.print_exc()
        print(f"This is a bug {_whose()}, not a mistake in what you typed.", file=sys.stderr)
        return BUG


def _whose() -> str:
    """Where the exception at hand was raised: in a policy, which may be the reader's own, or elsewhere."""
    error = sys.exc_info()[1]
    while error is not None and error.__cause__ is not None:
        error = error.__cause__
    frames = traceback.extract_tb(error.__traceback__ if error else None)
    own = [frame for frame in frames if os.sep + os.path.join("sched", "policies") + os.sep in frame.filename]
    if not own:
        return "in Sched Lab"
    return f"in the policy file {os.path.basename(own[-1].filename)}, line {own[-1].lineno}"


def _mistake(sentence: str) -> int:
    print(str(ScenarioError(sentence)), file=sys.stderr)
    return MISTAKE


if __name__ == "__main__":
    sys.exit(main())
