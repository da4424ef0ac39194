"""`papers`: published rows beside what the simulator gets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sched.command.arguments import Parser, Progress, print_json
from sched.command.tables import described, print_text
from sched.fields import ScenarioError, suggestion

if TYPE_CHECKING:
    from sched.papers import Row


def papers(words: Sequence[str]) -> int:
    """Run the published rows again. 1: a row that should come out does not."""
    about = "Published rows, run again: what was published, what we get, and whether it is the same."
    parser = Parser("papers", about)
    parser.add_argument("rows", metavar="ROW", nargs="*", help="these rows only; without any, all")
    parser.add_argument("--write", action="store_true", help="keep the figures for the page (all rows)")
    options = parser.read(words)
    from sched import papers as published  # no other command should wait for these imports

    for key in options.rows:
        if key not in published.PAPERS:
            raise ScenarioError(f"papers: {key}: there is no such row{suggestion(key, published.PAPERS)}")
    if options.write and options.rows:
        raise ScenarioError("papers: --write keeps all rows; leave out the names")
    progress = Progress()
    found = published.rows(options.rows, progress.tell)
    progress.end()
    if options.write:
        published.write(found)
    if options.json:
        print_json(published.document(found))
    else:
        print_text("\n\n".join(map(_told, found)))
        print_text(f"\n{_count(found)}")
    return 1 if any(row.verdict == published.FAILED for row in found) else 0


def _told(row: "Row") -> str:
    """One row as a block of text."""
    parts = {
        "source": row.source,
        "setting": row.setting,
        "published": row.published,
        "run here": row.ran,
        "ours": row.ours,
        "accepted if": row.rule,
        "why": row.why,
    }
    return f"{row.key}: {row.verdict}\n" + described(
        [(f"  {name}", text) for name, text in parts.items() if text]
    )


def _count(found: "Sequence[Row]") -> str:
    verdicts = [row.verdict for row in found]
    return ", ".join(f"{verdicts.count(one)} {one}" for one in dict.fromkeys(verdicts))
