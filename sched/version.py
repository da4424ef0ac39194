"""Which Sched Lab this is: the one place that says so."""

VERSION = "0.4.0"
"""Of the product, by semantic versioning; the changelog says what is in it."""

MODEL = 1
"""Revision of the model. It rises with every change after which an old scenario gives other figures; a test
keeps the figures of each policy for it.
"""

REPOSITORY_TITLE = "Sched Lab: what happens to urgent requests when the serving engine schedules differently"


def citation() -> str:
    """How to name the program in a text, so that a reader can run the same one."""
    return f"{REPOSITORY_TITLE}. Version {VERSION}, model revision {MODEL}."
