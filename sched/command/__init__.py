"""The commands of `python -m sched`, by what they are about. `sched/__main__.py` chooses among them."""
