# `make run` opens the dashboard, `make test` checks everything. The plain commands stand in README.md.
#   make run PORT=8600       make test TESTS="tests/test_house.py -x"       make venv CONSTRAINTS=   (newest in range)

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The first interpreter that is new enough, unless you name one: make run PYTHON=/opt/python3.12/bin/python3
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$p"; break; }; done)
CONSTRAINTS ?= constraints.txt
PORT ?= 8501
TESTS ?=
PYTEST_OPTIONS ?= -n 2 --dist loadgroup

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(CONSTRAINTS),-c $(CONSTRAINTS))
# A browser window opens where there is a screen to open it on.
HEADLESS := $(if $(DISPLAY)$(WAYLAND_DISPLAY)$(filter Darwin,$(shell uname -s)),false,true)

.PHONY: help venv dev browser run test theory lint format bench clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

# The stamps live inside the environment, so deleting .venv starts afresh.
.venv/made:
	@test -n "$(PYTHON)" || { echo "Sched Lab needs Python 3.11 or newer; name one with make PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/installed: .venv/made requirements.txt $(CONSTRAINTS)
	$(PIP) -r requirements.txt
	@touch $@

.venv/installed-dev: .venv/installed requirements-dev.txt
	$(PIP) -r requirements-dev.txt
	@touch $@

venv: .venv/installed  ## make the virtual environment and install what the product needs

dev: .venv/installed-dev  ## ... and what the tests need

browser: dev  ## a browser for the tests of the page, where none is found
	@.ci/browser $(BIN)/python

run: venv  ## open the dashboard
	$(BIN)/python -m streamlit run app.py --server.port $(PORT) --server.headless $(HEADLESS)

# The browser has the machine to itself: beside other tests it is too slow to be waited for. 5: no such tests.
# Every check runs even when an earlier one fails; the failed ones are named at the end.
test: browser  ## style, types and every test
	@failed=""; \
	$(BIN)/ruff check . || failed="$$failed ruff-check"; \
	$(BIN)/ruff format --check . || failed="$$failed ruff-format"; \
	$(BIN)/mypy || failed="$$failed mypy"; \
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) -m "not browser" $(TESTS) || test $$? -eq 5 || failed="$$failed pytest"; \
	$(BIN)/python -m pytest -m browser $(TESTS) || test $$? -eq 5 || failed="$$failed browser"; \
	test -z "$$failed" || { echo "Not passed:$$failed" >&2; exit 1; }

theory: venv  ## the textbook's queues through the engine, at length; keeps the figures that the page shows
	$(BIN)/python -m sched anchors --run --seeds 10 --jobs 200000 --write

lint: dev  ## style and types only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: dev  ## let ruff put the files in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: venv  ## requests simulated per CPU second, with room and with a full cache
	$(BIN)/python -m sched bench
	$(BIN)/python -m sched bench --tight

clean:  ## delete the virtual environment and what the tools keep
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
