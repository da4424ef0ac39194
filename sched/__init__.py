"""Sched Lab: what happens to urgent requests when the serving engine schedules differently."""
