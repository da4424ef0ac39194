"""The time of an iteration is the published formula, in whole picoseconds, the machine what was asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from sched import cost
from sched.model import PS_PER_S, UNLIMITED_BLOCKS
from sched.scenario import Scenario, ScenarioError

MEASURED = Path(__file__).resolve().parents[2] / "shared" / "cost" / "hardware.json"
PRESETS = [row["name"] for row in cost.hardware()]


def scenario(**engine: Any) -> Scenario:
    return Scenario(engine=engine)


@pytest.mark.parametrize(
    ("seconds", "picoseconds"),
    [(0.1, 10**11), (1e-12, 1), (8.7e-8, 87_000), (0.3, 3 * 10**11), (8_640_000.0, 8_640_000 * PS_PER_S)],
)
def test_decimal_seconds_are_exact_picoseconds(seconds: float, picoseconds: int) -> None:
    assert cost.picoseconds(seconds) == picoseconds


def test_half_a_picosecond_is_rounded_up() -> None:
    assert cost.picoseconds(2.5e-12) == 3


def test_constant_hardware_takes_the_same_time_whatever_the_batch() -> None:
    one = cost.iteration_cost(scenario(hardware="constant", iteration_s=0.25))
    assert one.decode_ps(1) == one.decode_ps(256) == one.mixed_ps(7, 5000, 9) == PS_PER_S // 4
    assert (one.kv_token_ps, one.kv_token_mixed_ps, one.attention_ps, one.prefix_ps) == (0, 0, 0, 0)


def test_affine_hardware_is_a_straight_line() -> None:
    """2 decodes and 3 + 4 prompt tokens: 10 ms + 7 x 1 ms + 2 x 0.5 ms = 18 ms, worked by hand."""
    line = {"base_s": 0.01, "prefill_token_s": 0.001, "decode_seq_s": 0.0005}
    line |= {"kv_token_s": 1e-6, "attention_s": 2e-9}
    one = cost.iteration_cost(scenario(hardware="affine", affine=line))
    assert one.mixed_ps(2, 7, 4) == 18 * 10**9
    assert one.decode_ps(2) == 11 * 10**9
    assert (one.kv_token_ps, one.kv_token_mixed_ps, one.attention_ps, one.prefix_ps) == (
        10**6,
        10**6,
        2000,
        0,
    )


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_fitted_formula(name: str) -> None:
    """Against the formula with its fractional power; rounded coefficients allow 1 part in 10^6."""
    row = cost._presets()[name]
    one = cost.iteration_cost(scenario(hardware=name))
    batches = ((1, 0, 0), (37, 0, 0), (256, 0, 0), (0, 1, 1), (12, 500, 1), (200, 7992, 5))
    for decodes, prefill, chunks in batches:
        new, sequences = decodes + prefill, decodes + chunks
        read = 1 - (1 - row["kE"]) ** new if row["kE"] else 1.0
        smooth = ((row["w"] * read) ** 4 + (row["f"] * new) ** 4) ** 0.25
        seconds = row["c0"] + smooth + row["g"] * new + row["cS"] * sequences
        assert one.mixed_ps(decodes, prefill, sequences) == pytest.approx(seconds * PS_PER_S, rel=1e-6)
        if not prefill:
            assert one.decode_ps(decodes) == one.mixed_ps(decodes, 0, decodes)
    assert one.kv_token_ps == pytest.approx(row["aK"] * PS_PER_S, abs=0.6)
    assert one.kv_token_mixed_ps == pytest.approx(row["aK"] * row["rmix"] * PS_PER_S, abs=1)
    assert one.attention_ps == pytest.approx(row["aP"] * PS_PER_S, abs=0.6)
    assert one.prefix_ps == pytest.approx(row["aX"] * PS_PER_S, abs=0.6)


@pytest.mark.parametrize("name", PRESETS)
def test_more_work_never_takes_less_time(name: str) -> None:
    one = cost.iteration_cost(scenario(hardware=name))
    decodes = [one.decode_ps(count) for count in range(1, 300)]
    mixed = [one.mixed_ps(10, tokens, 11) for tokens in range(1, 4000, 50)]
    assert decodes == sorted(decodes) and mixed == sorted(mixed)


def test_a_whole_power_takes_products_only() -> None:
    for exponent in (0, 1, 2, 13, 1000):
        assert cost.power(0.75, exponent) == pytest.approx(0.75**exponent, rel=1e-13)


def test_the_watermark_is_taken_from_the_decimal_as_written() -> None:
    """0.29 x 100 is 29; in floating point it is 28.999999999999996."""
    assert cost.machine(scenario(kv_blocks=99, watermark=0.29)).watermark_blocks == 29
    assert cost.machine(scenario(kv_blocks=98, watermark=0.29)).watermark_blocks == 28


def test_blocks_are_given_or_unlimited_or_what_the_gpu_holds() -> None:
    assert cost.machine(scenario(kv_blocks=10)).kv_blocks == 10
    assert cost.machine(scenario(kv_blocks="unlimited")).kv_blocks == UNLIMITED_BLOCKS
    assert cost.machine(scenario(hardware="constant")).kv_blocks == UNLIMITED_BLOCKS
    assert cost.machine(scenario(hardware="affine")).kv_blocks == UNLIMITED_BLOCKS
    name = "h100_sxm|llama-3.1-8b|tp1"
    assert cost.machine(scenario(hardware=name)).kv_blocks == 28218
    assert cost.machine(scenario(hardware=name, block_size=32)).kv_blocks == 28218 // 2


def test_a_block_larger_than_the_memory_is_refused_in_words() -> None:
    with pytest.raises(ScenarioError, match="block_size = 65536"):
        cost.machine(scenario(hardware="l4|llama-3.1-8b|tp1", block_size=65536))


def test_unknown_hardware_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(ScenarioError, match=r"engine\.hardware = h100\|llama.*h100_sxm\|llama-3\.1-8b\|tp1"):
        cost.machine(scenario(hardware="h100|llama-3.1-8b", kv_blocks=10))
    with pytest.raises(ScenarioError, match=r"engine\.hardware = hal9000"):
        cost.iteration_cost(scenario(hardware="hal9000"))


def test_every_preset_says_how_far_off_it_is_and_where_it_is_from() -> None:
    rows = cost.hardware()
    assert len(rows) == 36
    for row in rows:
        assert row["source"] and row["kv_blocks"] > 0
        assert row["error_percent"] is not None or "estimate" in row["kind"]


def test_the_carried_figures_are_the_measured_ones() -> None:
    if not MEASURED.exists():
        pytest.skip("shared/cost/hardware.json is not there: nothing to compare the carried figures with")
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))["presets"]
    carried = cost._presets()
    assert list(carried) == list(measured)
    for name, row in measured.items():
        for key in ("c0", "w", "f", "g", "cS", "aP", "aK", "rmix", "aX", "kE"):
            assert carried[name][key] == row["coef_s"][key], (name, key)
        assert carried[name]["kv_blocks"] == row["kv"]["num_gpu_blocks_est"]
        errors = row.get("error_pct_vs_composed_points_5fold_cv")
        told = carried[name]["fit"]
        assert (told and [told["median_percent"], told["p95_percent"], told["points"]]) == (
            errors and [errors["total"][key] for key in ("median", "p95", "n")]
        )
        assert bool(carried[name]["live"]) == bool(row.get("error_pct_vs_live_engine"))


def test_what_is_said_of_the_errors_agrees_with_itself() -> None:
    for row in cost._presets().values():
        fit, live = row["fit"], row["live"]
        assert (fit and fit["p95_percent"]) == row["error_p95_percent"]
        assert (live and live["percent"]) == row["engine_error_percent"]
        assert fit is None or fit["median_percent"] <= row["error_percent"] <= fit["p95_percent"]
        assert (fit is None) == ("estimate" in row["kind"])
