"""Documents of known tools that nest their requests, unfolded into one flat table each."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sched.fields import ScenarioError
from sched.trace_bytes import Table, flat
from sched.trace_values import number


def unfolded(table: Table, name: str) -> tuple[str, Table] | None:
    """A known tool's document as a flat table, with the tool's name. Raises when it holds no requests."""
    if not table.whole:
        return None
    first = table.whole[0]
    for needs, unfold in _DOCUMENTS:
        if all(key in first for key in needs):
            try:
                return unfold(table.whole)
            except ScenarioError as error:
                raise ScenarioError(f"{name}: {error}") from error
            except (TypeError, KeyError, ValueError, AttributeError, ArithmeticError) as error:
                what = unfold.__name__.strip("_").replace("_", " ")
                raise ScenarioError(f"{name}: looks like a file of {what}, but is damaged inside") from error
    if "load_summary" in first or "total_input_tokens" in first:
        raise ScenarioError(
            f"{name}: holds totals of a benchmark and no single requests; save it with its details "
            "(vLLM: --save-detailed) and load that"
        )
    if "experiments" in first and "service_kind" in first:
        raise ScenarioError(
            f"{name}: a genai-perf export carries no token counts; use AIPerf's profile_export.jsonl"
        )
    if first and all(key.isdecimal() for key in first):
        raise ScenarioError(f"{name}: holds laws of lengths by time window, not requests")
    return None


def _table(records: list[dict[str, Any]], dropped: list[tuple[int, str]], assumed: list[str]) -> Table:
    """A table of unfolded records; each has its own number under "line"."""
    flats = [dict(flat(record)) for record in records]
    titles = dict.fromkeys(title for one in flats for title in one)
    columns = {title: [one.get(title) for one in flats] for title in titles if title != "line"}
    return Table("json", columns, [one["line"] for one in flats], dropped, assumed)


def _benchmark(runs: list[Any]) -> tuple[str, Table]:
    """vLLM and SGLang: arrays with one entry a request; several runs follow each other."""
    records: list[dict[str, Any]] = []
    dropped: list[tuple[int, str]] = []
    assumed: list[str] = []
    line, begins = 0, Decimal(0)
    timed = "start_times" in runs[0]
    for run in runs:
        inputs, outputs = run.get("input_lens") or [], run.get("output_lens") or []
        errors = run.get("errors") or []
        rate = number(run.get("request_rate"))
        gap = 1 / rate if not isinstance(rate, str) and rate > 0 else Decimal(0)
        starts = run.get("start_times") if timed else [begins + place * gap for place in range(len(inputs))]
        if not len(inputs) == len(outputs) == len(starts or ()):
            raise ScenarioError("its arrays of input and output lengths and times differ in length")
        for place, start in enumerate(starts or ()):
            line += 1
            if place < len(errors) and errors[place]:
                dropped.append((line, "failed in the benchmark"))
            else:
                records.append(
                    {"line": line, "start": str(start), "in": inputs[place], "out": outputs[place]}
                )
        begins += len(inputs) * gap
    if not timed:
        assumed.append("the file has no arrival times: requests are spaced evenly at its request_rate")
    if len(runs) > 1:
        assumed.append(f"the file holds {len(runs)} runs: they are played one after the other")
    return ("vllm-bench" if timed else "sglang-bench"), _table(records, dropped, assumed)


def _guidellm(documents: list[Any]) -> tuple[str, Table]:
    records: list[dict[str, Any]] = []
    dropped: list[tuple[int, str]] = []
    for benchmark in documents[0]["benchmarks"]:
        for status, requests in (benchmark.get("requests") or {}).items():
            for one in requests or ():
                values = dict(flat(one))
                line = len(records) + len(dropped) + 1
                if status == "errored":
                    dropped.append((line, "failed in the benchmark"))
                    continue
                records.append(
                    {
                        "line": line,
                        "start": values.get("info.timings.request_start"),
                        "in": values.get("input_metrics.text_tokens"),
                        "out": values.get("output_metrics.text_tokens"),
                        "request_id": values.get("request_id"),
                    }
                )
    return "guidellm", _table(records, dropped, [])


def _otlp_value(value: dict[str, Any]) -> Any:
    return next(iter(value.values()), None)


def _otlp(documents: list[Any]) -> tuple[str, Table]:
    """OpenTelemetry spans, flat or as OTLP/JSON, whose numbers are strings and attributes key/value lists."""
    spans: list[tuple[dict[str, Any], dict[str, Any], Any]] = []
    for document in documents:
        for resource in document.get("resourceSpans") or ():
            owner = {
                a["key"]: _otlp_value(a["value"]) for a in resource.get("resource", {}).get("attributes", ())
            }
            for scope in resource.get("scopeSpans") or ():
                for span in scope.get("spans") or ():
                    own = {a["key"]: _otlp_value(a["value"]) for a in span.get("attributes") or ()}
                    spans.append(({**owner, **own}, span, span.get("startTimeUnixNano")))
        for span in document.get("spans") or ():
            own = {**(span.get("resource_attributes") or {}), **(span.get("attributes") or {})}
            spans.append((own, span, span.get("start_time") or span.get("startTimeUnixNano")))
    return "otel", _spans_table(spans)


def _spans_table(spans: list[tuple[dict[str, Any], dict[str, Any], Any]]) -> Table:
    records: list[dict[str, Any]] = []
    dropped: list[tuple[int, str]] = []
    counted = 0
    for line, (own, span, start) in enumerate(spans, start=1):
        inside = own.get("gen_ai.usage.input_tokens", own.get("gen_ai.usage.prompt_tokens"))
        out = own.get("gen_ai.usage.output_tokens", own.get("gen_ai.usage.completion_tokens"))
        texts = own.get("gen_ai.input.messages"), own.get("gen_ai.output.text")
        if inside is None and all(isinstance(text, str) for text in texts):
            inside, out = (max(1, len(str(text)) // 4) for text in texts)
            counted += 1
        if inside is None and out is None:
            dropped.append((line, "is a span without token counts (a tool or a chain)"))
            continue
        tenant = own.get("tenant.id") or own.get("user.id") or own.get("enduser.id")
        tier = own.get("gen_ai.openai.request.service_tier") or own.get("gen_ai.request.service_tier")
        record = {"line": line, "start": start, "in": inside, "out": out, "tenant": tenant, "priority": tier}
        records.append({**record, "request_id": span.get("spanId") or span.get("span_id")})
    guess = f"{counted} spans carry texts and no token counts: taken as four characters a token"
    return _table(records, dropped, [guess] if counted else [])


def _openai_usage(documents: list[Any]) -> tuple[str, Table]:
    """Sums by time bucket and project, spread out as that many requests of the bucket's mean lengths."""
    records: list[dict[str, Any]] = []
    for document in documents:
        for bucket in document["data"]:
            begin, end = bucket.get("start_time"), bucket.get("end_time")
            for result in bucket.get("results") or ():
                count = int(result.get("num_model_requests") or 0)
                for place in range(count):
                    records.append(
                        {
                            "line": len(records) + 1,
                            "start": str(begin + Decimal(end - begin) * place / count),
                            "in": _share(result.get("input_tokens"), count, place),
                            "out": _share(result.get("output_tokens"), count, place),
                            "tenant": result.get("project_id") or "default",
                            "class": "batch" if result.get("batch") else "online",
                            "priority": "batch" if result.get("batch") else "default",
                        }
                    )
    records.sort(key=lambda one: Decimal(one["start"]))
    for line, record in enumerate(records, start=1):
        record["line"] = line
    spread = (
        "the file holds sums by time bucket, not requests: each is spread evenly as requests of mean length"
    )
    return "openai-usage", _table(records, [], [spread])


def _share(total: Any, count: int, place: int) -> int:
    """The place-th of `count` whole parts that sum to the total."""
    whole = int(total or 0)
    return whole // count + (1 if place < whole % count else 0)


def _vtc_results(documents: list[Any]) -> tuple[str, Table]:
    responses = [
        one for document in documents for one in (document.get("result") or {}).get("responses") or ()
    ]
    records = [
        {
            "line": line,
            "start": one.get("req_time"),
            "in": one.get("prompt_len"),
            "out": one.get("output_len"),
            "tenant": one.get("adapter_dir"),
        }
        for line, one in enumerate(responses, start=1)
    ]
    return "vtc-results", _table(records, [], [])


_DOCUMENTS: tuple[tuple[tuple[str, ...], Callable[[list[Any]], tuple[str, Table]]], ...] = (
    (("input_lens", "output_lens"), _benchmark),
    (("benchmarks",), _guidellm),
    (("resourceSpans",), _otlp),
    (("spans",), _otlp),
    (("object", "data", "has_more"), _openai_usage),
    (("config", "result"), _vtc_results),
)

UNFOLDED = {
    "arrival": ("start",),
    "prompt": ("in",),
    "output": ("out",),
    "class": ("class",),
    "tenant": ("tenant",),
    "priority": ("priority",),
    "id": ("request_id",),
}
"""The columns of an unfolded document."""

UNFOLDED_UNITS = {
    "vllm-bench": "s",
    "sglang-bench": "s",
    "guidellm": "s",
    "vtc-results": "s",
    "openai-usage": "s",
}
