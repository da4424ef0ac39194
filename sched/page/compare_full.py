"""The full table: every percentile of every class under every policy, with its interval over the seeds."""

from typing import Any

from sched.experiments import Comparison
from sched.intervals import Estimate
from sched.page.cards import seconds
from sched.page.compare_cells import between
from sched.page.compare_choices import Chosen, family_names
from sched.page.component import component
from sched.page.language import tr
from sched.page.titles import title
from sched.view import FAMILIES, PERCENTILES

Row = tuple[str, str, tuple[Estimate, ...]]


def full_rows(found: Comparison) -> list[Row]:
    """One row a class and policy; in it the mean over the seeds of each percentile, with its interval."""
    return [
        (
            policy,
            name,
            tuple(
                found.estimate(policy, f"{family}_s.{part}", name)
                for family in FAMILIES
                for part in PERCENTILES
            ),
        )
        for name in found.classes
        for policy in found.policies
    ]


def full_table(found: Comparison, what: Chosen) -> None:
    """Draw it, in the look of the table above."""
    names = family_names()
    columns: list[dict[str, Any]] = [{"key": "class", "title": tr("class"), "help": "", "kind": "text"}]
    columns += [
        {"key": f"{family}.{part}", "title": f"{names[family]} {part}", "help": "", "kind": "number"}
        for family in FAMILIES
        for part in PERCENTILES
    ]
    rows = [
        {
            "key": policy,
            "title": title(found.scenario, policy),
            "chosen": name == what.name,
            "cells": [{"text": name}, *(_cell(one) for one in estimates)],
        }
        for policy, name, estimates in full_rows(found)
    ]
    about = (
        tr("Mean over {n} seeds, and the interval that holds the true mean with 95 %.", n=len(found.seeds))
        if len(found.seeds) > 1
        else tr("One seed: no interval.")
    )
    data = {
        "verdict": [],
        "trust": about,
        "caption": tr("All percentiles by class and policy"),
        "columns": columns,
        "rows": rows,
        "sort": None,
        "axis": None,
        "menu": [],
        "head": tr("policy"),
    }
    component("compare")(data=data, key="compare_full")


def _cell(one: Estimate) -> dict[str, str]:
    if one.mean is None:
        return {"text": "–"}
    if one.low is None or one.high is None or one.low == one.high:
        return {"text": seconds(one.mean)}
    return {
        "text": seconds(one.mean),
        "sub": between(seconds(one.low), seconds(one.high)),
    }
