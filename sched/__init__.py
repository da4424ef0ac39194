"""Sched Lab: what happens to urgent requests when the serving engine schedules differently."""

from sched.engine import simulate
from sched.log import Log
from sched.policies import POLICIES
from sched.scenario import Scenario

__all__ = ["POLICIES", "Log", "Scenario", "simulate"]
