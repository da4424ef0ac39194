"""`policies`, `scenarios` and `hardware`: what there is."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sched.command.arguments import Parser, print_json
from sched.command.tables import described, number_text, print_text, share_text, table
from sched.cost import OWN, hardware
from sched.knobs import markdown
from sched.plain import inline
from sched.presets import DEFAULT, presets
from sched.registry import PolicyEntry, known_policies


def list_policies(words: Sequence[str]) -> int:
    """Every policy, with its settings."""
    options = Parser("policies", "The policies and their settings.").read(words)
    entries = known_policies().values()
    if options.json:
        print_json([_entry(one) for one in entries])
        return 0
    rows: list[tuple[str, str]] = []
    for one in entries:
        rows.append((one.key, " ".join(one.help.partition("Source:")[0].split())))
        for setting in one.settings:
            default = "unset" if setting.default is None or setting.table else inline(setting.default)
            rows.append((f"  {one.key}.{setting.name}", f"{setting.title} ({default}). {setting.help}"))
    print_text(described(rows))
    return 0


def _entry(one: PolicyEntry) -> dict[str, Any]:
    settings = [asdict(setting) for setting in one.settings]
    return {"key": one.key, "title": one.title, "help": " ".join(one.help.split()), "settings": settings}


def list_scenarios(words: Sequence[str]) -> int:
    """Every preset."""
    parser = Parser("scenarios", "The ready scenarios.")
    parser.add_argument("--reference", action="store_true", help="every setting of a scenario, in Markdown")
    options = parser.read(words)
    if options.reference:
        print_text(markdown(), end="")
    elif options.json:
        print_json([asdict(one) | {"default": one.name == DEFAULT} for one in presets()])
    else:
        print_text(
            described([(one.name, f"{one.title}. {' '.join(one.story.split())}") for one in presets()])
        )
    return 0


def list_hardware(words: Sequence[str]) -> int:
    """Every hardware preset, with its errors."""
    options = Parser("hardware", "The fitted hardware presets and their errors.").read(words)
    rows = hardware()
    if options.json:
        print_json(rows)
        return 0
    heads = ["name", "GPU", "model", "type", "blocks of 16", "error", "p95"]
    cells = [
        [
            *(row["name"], row["gpu"], row["model"], row["dtype"], number_text(row["kv_blocks"])),
            *(share_text(row[name], 1, of=100) for name in ("error_percent", "error_p95_percent")),
        ]
        for row in rows
    ]
    print_text(table(heads, cells, left=4))
    print_text(f"\nAnd {' and '.join(OWN)}, whose times the scenario gives itself. --json has the sources.")
    return 0
