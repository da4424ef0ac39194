"""A comparison as files that open elsewhere: tables as CSV and Parquet, figures as JSON, and their names.

The same scenario gives the same bytes: what is packed carries no clock.
"""

import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sched.files import to_toml
from sched.inversion import Inversion
from sched.log import Log
from sched.metrics import summary
from sched.plain import plain
from sched.report import NAMES, Tables, tables
from sched.scenario import Scenario
from sched.spreadsheet import csv_file

Runs = Mapping[str, tuple[Log, Inversion]]
"""Log and analysis by policy."""
LONGEST_NAME = 120


def joined(scenario: Scenario, runs: Runs) -> Tables:
    """The four tables with the rows of all policies; a first column says whose they are."""
    made = {policy: tables(log, scenario, inversion) for policy, (log, inversion) in runs.items()}
    return {
        name: pa.concat_tables(
            [
                one[name].add_column(0, "policy", pa.array([policy] * len(one[name]), pa.string()))
                for policy, one in made.items()
            ],
            promote_options="default",
        )
        for name in NAMES
    }


def csv_text(table: Any) -> str:
    """A table by RFC 4180, with a mark that it is UTF-8; numbers stay numbers, what is absent stays empty."""
    parts = (batch.columns for batch in table.to_batches(max_chunksize=10_000))
    rows = (row for columns in parts for row in zip(*(one.to_pylist() for one in columns), strict=True))
    return csv_file(table.column_names, rows)


def packed(files: Iterable[tuple[str, bytes | str]]) -> bytes:
    """A ZIP file of these."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 6)
    return out.getvalue()


def csv_zip(scenario: Scenario, runs: Runs) -> bytes:
    """The tables as CSV, with the scenario."""
    made = joined(scenario, runs)
    return packed(
        [(f"{name}.csv", csv_text(made[name])) for name in NAMES] + [("scenario.toml", to_toml(scenario))]
    )


def parquet_zip(scenario: Scenario, runs: Runs) -> bytes:
    """The tables as Parquet, with the scenario."""
    files: list[tuple[str, bytes | str]] = []
    for name, table in joined(scenario, runs).items():
        out = io.BytesIO()
        pq.write_table(table, out)
        files.append((f"{name}.parquet", out.getvalue()))
    return packed([*files, ("scenario.toml", to_toml(scenario))])


def json_text(scenario: Scenario, runs: Runs) -> str:
    """What `run --json` prints."""
    told = {
        policy: summary(log, scenario, inversion, in_full=True) for policy, (log, inversion) in runs.items()
    }
    value = {"scenario": plain(scenario, full=True), "policies": told}
    return json.dumps(value, allow_nan=False, indent=1) + "\n"


def slug(text: str) -> str:
    """A text as a part of a file's name: small ASCII letters, digits and hyphens; "" where none is left."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_only.lower()).strip("-")


def file_name(scenario: Scenario, policies: Iterable[str], what: str, ending: str) -> str:
    """What a file is called: scenario, policies, what it is; in letters that every system takes."""
    name = slug(scenario.title) or slug(scenario.link_base.partition("@")[0]) or "scenario"
    words = "-".join([name[:40].strip("-"), *(slug(one) for one in dict.fromkeys(policies))])
    return f"{words[:LONGEST_NAME].strip('-')}-{what}.{ending}"
