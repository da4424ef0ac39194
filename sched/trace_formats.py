"""Which of the known layouts a trace has, and which of its columns say what.

Flat layouts are rows of FORMATS: the columns that give them away, and the columns to read. Documents that
nest their requests are unfolded into a flat table first. Whatever else has a header is read by the names
people use.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from sched.fields import ScenarioError
from sched.trace_bytes import Table
from sched.trace_values import is_blank, tokens

Columns = dict[str, tuple[str, ...]]
Segments = tuple[tuple[str, int], ...]

FIELDS = ("arrival", "prompt", "output", "class", "tenant", "priority", "id")
"""What a request has; the names to the left of = in a mapping."""


@dataclass(frozen=True, slots=True)
class Format:
    """A known layout. `needs` gives it away; of several columns for a field the first that is filled counts.

    `only` keeps the records whose column has one of the values, and names the rest. `block` is the number of
    tokens that one entry of `hash_ids` stands for.
    """

    name: str
    needs: tuple[str, ...]
    columns: Columns
    unit: str | None = None
    only: tuple[str, tuple[str, ...], str] | None = None
    block: int = 0
    assumed: tuple[str, ...] = field(default_factory=tuple)


def _columns(arrival: str, prompt: str, output: str, **more: str | tuple[str, ...]) -> Columns:
    found = {"arrival": arrival, "prompt": prompt, "output": output, **more}
    return {key.rstrip("_"): (one,) if isinstance(one, str) else one for key, one in found.items() if one}


FORMATS = (
    Format(
        "azure-llm", ("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
        _columns("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
    ),
    Format(
        "burstgpt", ("Timestamp", "Request tokens", "Response tokens"),
        _columns("Timestamp", "Request tokens", "Response tokens", class_="Log Type", tenant="Model"),
        unit="s",
    ),
    Format(
        "bailian", ("timestamp", "input_length", "output_length", "hash_ids", "chat_id"),
        _columns("timestamp", "input_length", "output_length", class_="type"), unit="s", block=16,
    ),
    Format(
        "ragpulse", ("timestamp", "input_length", "output_length", "hash_ids.sys_prompt"),
        _columns("timestamp", "input_length", "output_length"), unit="s",
        assumed=("hash_ids name passages of unknown length, so shared prefixes are left out",),
    ),
    Format(
        "mooncake", ("timestamp", "input_length", "output_length"),
        _columns("timestamp", "input_length", "output_length"), unit="ms", block=512,
    ),
    Format(
        "vidur", ("arrived_at", "num_prefill_tokens", "num_decode_tokens"),
        _columns("arrived_at", "num_prefill_tokens", "num_decode_tokens"), unit="s",
    ),
    Format(
        "vidur-lengths", ("num_prefill_tokens", "num_decode_tokens"),
        _columns("", "num_prefill_tokens", "num_decode_tokens"),
    ),
    Format(
        "splitwise", ("arrival_timestamp", "prompt_size", "token_size"),
        _columns("arrival_timestamp", "prompt_size", "token_size", id="request_id"), unit="s",
    ),
    Format(
        "vtc", ("req_time", "prompt_len", "output_len", "adapter_dir"),
        _columns("req_time", "prompt_len", "output_len", tenant="adapter_dir", id="req_id"), unit="s",
    ),
    Format(
        "litellm", ("startTime", "prompt_tokens", "completion_tokens"),
        _columns(
            "startTime", "prompt_tokens", "completion_tokens",
            tenant=("team_id", "api_key", "end_user", "user"), id="request_id",
        ),
    ),
    Format(
        "langfuse", ("startTime", "usageDetails.input", "usageDetails.output"),
        _columns(
            "startTime", "usageDetails.input", "usageDetails.output",
            tenant=("userId",), class_=("traceName",), id="id",
        ),
        only=("type", ("GENERATION",), "is not a generation"),
    ),
    Format(
        "aiperf", ("metadata.request_start_ns", "metrics.input_sequence_length.value"),
        _columns(
            "metadata.request_start_ns", "metrics.input_sequence_length.value",
            "metrics.output_sequence_length.value", id="metadata.x_request_id",
        ),
        unit="ns", only=("metadata.benchmark_phase", ("profiling",), "is not of the measured phase"),
    ),
    Format(
        "inference-perf", ("start_time", "info.input_tokens", "info.response_metrics.output_tokens"),
        _columns("start_time", "info.input_tokens", "info.response_metrics.output_tokens"), unit="s",
    ),
)  # fmt: skip

SYNONYMS: dict[str, str] = {
    "arrival": "timestamp time ts arrival arrivals arrivaltime arrivaltimes arrivedat arrivaltimestamp "
    "arrivalms arrivaltimens arrivaltimems arrivaltimeus starttime start requesttime reqtime createdat "
    "created requeststart requeststartns timestampstartunixms datetime date",
    "prompt": "prompt prompts prompttokens prompttoks promptlen promptlength promptsize input inputs "
    "inputtokens inputtoks inputlength inputlen inputlens contexttokens numprefilltokens "
    "prefilltokens requesttokens isl inputsequencelength tokensin numprompttokens",
    "output": "output outputs outputtokens outputtoks outputlen outputlength outputlens completiontokens "
    "generatedtokens numdecodetokens decodetokens responsetokens tokensize osl outputsequencelength "
    "tokensout numoutputtokens",
    "class": "class classname category logtype workload kind",
    "tenant": "tenant tenantid team teamid project projectid customer customerid org organization "
    "organizationid client clientid user userid apikey",
    "priority": "priority prio urgency servicetier tier",
    "id": "id requestid reqid uuid",
}
"""Names that people give their columns, without case, spaces and signs."""


def bare(title: str) -> str:
    """A column's name without case, spaces and signs."""
    return re.sub(r"[^a-z0-9]", "", title.lower())


def recognise(table: Table, wanted: str = "auto") -> Format | None:
    """The known flat layout of a table; None when it has none of them. `wanted` forces one by its name."""
    if wanted not in ("auto", "generic"):
        for one in FORMATS:
            if one.name == wanted:
                return one
        names = ", ".join(one.name for one in FORMATS)
        raise ScenarioError(
            f"trace.format = {wanted}: no such format; known are auto, generic, {names}", "trace.format"
        )
    if wanted == "generic":
        return None
    titles = set(table.columns)
    return next((one for one in FORMATS if titles.issuperset(one.needs)), None)


def _holds_lengths(column: list[Any], decimal_comma: bool) -> bool:
    """Whether a column that is called prompt holds lengths and not texts."""
    return any(isinstance(tokens(value, decimal_comma), int) for value in column[:200])


def by_synonyms(table: Table) -> Columns:
    """Columns of a table of unknown make, by the names that people use."""
    found: Columns = {}
    bares = {title: bare(title) for title in table.columns}
    for name, words in SYNONYMS.items():
        ranked = words.split()
        fits = sorted((ranked.index(word), title) for title, word in bares.items() if word in ranked)
        if name in ("prompt", "output"):
            fits = [fit for fit in fits if _holds_lengths(table.columns[fit[1]], table.decimal_comma)] or fits
        if fits:
            found[name] = (fits[0][1],)
    return found


def first_filled(table: Table, titles: tuple[str, ...]) -> list[Any]:
    """Each record's first value among these columns that is not blank."""
    columns = [table.columns[title] for title in titles if title in table.columns]
    if len(columns) == 1:
        return columns[0]
    return [next((value for value in row if not is_blank(value)), None) for row in zip(*columns, strict=True)]


def prefixes_of(
    table: Table, known: Format | None, places: list[int], prompts: list[int], assumed: list[str]
) -> tuple[Segments, ...] | None:
    """The blocks that a prompt shares with others, where the trace lists their hashes."""
    column = table.columns.get("hash_ids")
    if known is None or not known.block or column is None:
        return None
    result: list[Segments] = []
    for place, length in zip(places, prompts, strict=True):
        hashes = column[place]
        if (
            not isinstance(hashes, list)
            or not (len(hashes) - 1) * known.block < length <= len(hashes) * known.block
        ):
            result.append(())
            continue
        last = length - (len(hashes) - 1) * known.block
        result.append((*((f"#{one}", known.block) for one in hashes[:-1]), (f"#{hashes[-1]}", last)))
    unfit = sum(not segments for segments in result)
    if unfit:
        assumed.append(
            f"{unfit:,} records have hash_ids that do not fit their length: no shared prefix for them"
        )
    return tuple(result)
