"""How long one iteration takes, and what the machine has: the scenario's `[engine]`, presets resolved.

    t = c0 + ((w cov)^4 + (f n)^4)^(1/4) + g n + cS S + aP A + aX X + aK K (rmix if the iteration prefills)

with n new tokens, S sequences, A = sum over prefill chunks of q (before + q / 2), X the longest prefix of a
chunk, K the cached tokens of the decodes, and cov = 1 - (1 - kE)^n the share of experts a mixture model
reads. Coefficients are whole picoseconds, and only products, sums and square roots follow: the same on every
machine.
"""

import json
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from difflib import get_close_matches
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any

from sched.fields import refuse
from sched.model import PS_PER_S, UNLIMITED_BLOCKS, Machine
from sched.scenario import Scenario

PRESET_BLOCK_SIZE = 16
"""Tokens in the blocks that a hardware preset counts."""

OWN = ("constant", "affine")
"""Hardware whose coefficients the scenario gives itself."""


def picoseconds(seconds: float, factor: float = 1.0) -> int:
    """Whole picoseconds of seconds exactly as written in decimals (0.1 is 10^11); a half is rounded up."""
    exact = Decimal(repr(seconds)) * Decimal(repr(factor)) * PS_PER_S
    return int(exact.to_integral_value(ROUND_HALF_UP))


class _Memo(dict[int, int]):
    """A table that computes an entry when it is first asked for; afterwards a look-up is one C call."""

    def __init__(self, compute: Callable[[int], int]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: int) -> int:
        value = self[key] = self._compute(key)
        return value


class IterationCost:
    """Duration of an iteration in picoseconds, in the parts that an engine can add up by itself.

    `decode_ps(D)` is an iteration of D decodes; `mixed_ps(D, P, S)` one of D decodes and P prefill tokens, S
    sequences in all. Add `kv_token_ps` (with any prefill: `kv_token_mixed_ps`) for each cached token of the
    decodes, `attention_ps * sum of q (2 before + q) // 2` and `prefix_ps * longest prefix` for the prefill
    chunks; and `swap_token_ps` for each preempted token that is moved to the host or back.
    """

    __slots__ = (
        "_base_ps",
        "_decode_extra_ps",
        "_expert_share",
        "_floor_ps",
        "_matrix_ps",
        "_new_tokens",
        "_sequence_ps",
        "_token_ps",
        "attention_ps",
        "decode_ps",
        "kv_token_mixed_ps",
        "kv_token_ps",
        "prefix_ps",
        "swap_token_ps",
    )

    def __init__(
        self,
        base_ps: int,
        floor_ps: int = 0,
        matrix_ps: int = 0,
        token_ps: int = 0,
        sequence_ps: int = 0,
        decode_extra_ps: int = 0,
        kv_token_ps: int = 0,
        kv_token_mixed_ps: int = 0,
        attention_ps: int = 0,
        prefix_ps: int = 0,
        expert_share: float = 0.0,
        swap_token_ps: int = 0,
    ) -> None:
        self._base_ps, self._floor_ps, self._matrix_ps = base_ps, floor_ps, matrix_ps
        self._token_ps, self._sequence_ps, self._decode_extra_ps = token_ps, sequence_ps, decode_extra_ps
        self._expert_share = expert_share
        self.kv_token_ps, self.kv_token_mixed_ps = kv_token_ps, kv_token_mixed_ps
        self.attention_ps, self.prefix_ps = attention_ps, prefix_ps
        self.swap_token_ps = swap_token_ps
        self._new_tokens = _Memo(self._new_tokens_ps)
        decodes_only = _Memo(lambda decodes: self.mixed_ps(decodes, 0, decodes))
        self.decode_ps: Callable[[int], int] = decodes_only.__getitem__

    def mixed_ps(self, decodes: int, prefill_tokens: int, sequences: int) -> int:
        """An iteration of these decodes and prefill tokens, `sequences` of both kinds together."""
        return (
            self._new_tokens[decodes + prefill_tokens]
            + self._sequence_ps * sequences
            + self._decode_extra_ps * decodes
        )

    def coefficients(self) -> dict[str, float]:
        """What each part costs by its name, in picoseconds; `expert_share` is a share."""
        memos = ("_new_tokens", "decode_ps")
        return {name.lstrip("_"): getattr(self, name) for name in self.__slots__ if name not in memos}

    def _new_tokens_ps(self, tokens: int) -> int:
        """What depends on the number of new tokens alone."""
        unread = power(1.0 - self._expert_share, tokens) if self._expert_share else 0.0
        weights = self._floor_ps * (1.0 - unread)
        compute = float(self._matrix_ps * tokens)
        weights *= weights
        compute *= compute
        smooth_maximum = sqrt(sqrt(weights * weights + compute * compute))
        return self._base_ps + self._token_ps * tokens + round(smooth_maximum)


def power(base: float, exponent: int) -> float:
    """A whole power by repeated squaring: products only, so the same on every machine."""
    result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@cache
def _presets() -> dict[str, dict[str, Any]]:
    """The fitted hardware presets, read when first needed; each names its source and its errors."""
    text = (Path(__file__).parent / "hardware.json").read_text(encoding="utf-8")
    presets: dict[str, dict[str, Any]] = json.loads(text)["presets"]
    return presets


def _preset(name: str) -> dict[str, Any]:
    presets = _presets()
    if name not in presets:
        near = get_close_matches(name, [*presets, *OWN], n=3, cutoff=0.3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        refuse(f"no such hardware; `python -m sched hardware` lists them{hint}", f"engine.hardware = {name}")
    return presets[name]


@cache
def _preset_cost(name: str, swap_gb_per_s: float) -> IterationCost:
    row = _preset(name)
    # Each of the GPUs moves its own part of a token's KV at the same time.
    bytes_moved = Decimal(row["kv_bytes_per_token"]) / row["tp"]
    swap_ps = bytes_moved * PS_PER_S / (Decimal(repr(swap_gb_per_s)) * 10**9)
    return IterationCost(
        base_ps=picoseconds(row["c0"]),
        floor_ps=picoseconds(row["w"]),
        matrix_ps=picoseconds(row["f"]),
        token_ps=picoseconds(row["g"]),
        sequence_ps=picoseconds(row["cS"]),
        kv_token_ps=picoseconds(row["aK"]),
        kv_token_mixed_ps=picoseconds(row["aK"], row["rmix"]),
        attention_ps=picoseconds(row["aP"]),
        prefix_ps=picoseconds(row["aX"]),
        expert_share=row["kE"],
        swap_token_ps=int(swap_ps.to_integral_value(ROUND_HALF_UP)),
    )


def iteration_cost(scenario: Scenario) -> IterationCost:
    """The iteration-time model the scenario's engine names: "constant", "affine", or a fitted preset."""
    engine = scenario.engine
    if engine.hardware == "constant":
        cost = IterationCost(base_ps=picoseconds(engine.iteration_s))
    elif engine.hardware == "affine":
        own = engine.affine
        prefill_ps, kv_ps = picoseconds(own.prefill_token_s), picoseconds(own.kv_token_s)
        cost = IterationCost(
            base_ps=picoseconds(own.base_s),
            token_ps=prefill_ps,
            decode_extra_ps=picoseconds(own.decode_seq_s) - prefill_ps,
            kv_token_ps=kv_ps,
            kv_token_mixed_ps=kv_ps,
            attention_ps=picoseconds(own.attention_s),
            swap_token_ps=picoseconds(own.swap_token_s),
        )
    else:
        return _preset_cost(engine.hardware, engine.swap_gb_per_s)
    if cost.decode_ps(1) <= 0 or cost.mixed_ps(0, 1, 1) <= 0:
        refuse("an iteration would take no time; give it at least 1e-12 s", "engine")
    return cost


def kv_blocks(scenario: Scenario) -> int:
    """Usable KV blocks: as given, else what fits the preset's GPU, else without limit."""
    engine = scenario.engine
    if engine.kv_blocks == "unlimited":
        return UNLIMITED_BLOCKS
    if engine.kv_blocks is not None:
        return int(engine.kv_blocks)
    if engine.hardware in OWN:
        return UNLIMITED_BLOCKS
    blocks = int(_preset(engine.hardware)["kv_blocks"]) * PRESET_BLOCK_SIZE // engine.block_size
    if not blocks:
        size = f"engine.block_size = {engine.block_size}"
        refuse("tokens: not one block of this size fits the memory", size)
    return blocks


def machine(scenario: Scenario) -> Machine:
    """The engine's fixed numbers, presets resolved. The watermark counts the null block too, as in vLLM."""
    engine, blocks = scenario.engine, kv_blocks(scenario)
    if engine.hardware not in OWN:
        _preset(engine.hardware)
    return Machine(
        kv_blocks=blocks,
        block_size=engine.block_size,
        max_num_seqs=engine.max_num_seqs,
        max_num_batched_tokens=engine.max_num_batched_tokens,
        long_prefill_token_threshold=engine.long_prefill_token_threshold,
        adaptive_threshold=engine.long_prefill_adaptive,
        enable_chunked_prefill=engine.enable_chunked_prefill,
        enable_prefix_caching=engine.enable_prefix_caching,
        watermark_blocks=int(Decimal(repr(engine.watermark)) * (blocks + 1)),
        max_model_len=engine.max_model_len,
        gate=engine.gate,
        refuse_infeasible=engine.refuse_infeasible,
        expected_ratio=_millionths(engine.expected_ratio),
        expected_decay=_millionths(engine.expected_decay),
        expected_floor=_millionths(engine.expected_floor),
    )


def _millionths(share: float) -> int:
    return int((Decimal(repr(share)) * 10**6).to_integral_value(ROUND_HALF_UP))


def fitted(name: str) -> dict[str, Any]:
    """All that is known of a preset: its coefficients, its errors, where it is from. Raises ScenarioError."""
    return dict(_preset(name))


def hardware() -> list[dict[str, Any]]:
    """One row a preset: what it is, its blocks of 16 tokens, its errors in per cent, where it is from."""
    shown = ("gpu", "model", "tp", "dtype", "kv_blocks", "kv_blocks_measured", "kv_bytes_per_token",
             "error_percent", "error_p95_percent", "engine_error_percent", "kind", "source")  # fmt: skip
    return [{"name": name, **{key: row[key] for key in shown}} for name, row in _presets().items()]
