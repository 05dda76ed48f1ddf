# `make help` lists the targets. Everything is installed into .venv, with the exact versions of
# constraints.txt; nothing is reinstalled as long as pyproject.toml and constraints.txt stay.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
APT_INSTALL := apt-get install -q -y --no-install-recommends chromium fonts-dejavu-core

.DEFAULT_GOAL := help
.PHONY: help install dev demo test test-browser test-live pictures image docs lint types layers unit coverage bench bench-quick format clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

install: $(VENV)/.installed ## install planner into .venv

dev: $(VENV)/.installed-dev ## install planner and the tools for working on it into .venv

demo: install ## plan the way back after a zone outage, on a cluster that ships with the package
	$(BIN)/planner solve --example zone-outage --rebalance

test: lint types layers unit ## run all checks and tests

lint: dev ## check style and formatting
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: dev ## check types
	$(BIN)/mypy

layers: dev ## check which package imports which
	$(BIN)/lint-imports --no-logo

unit: dev ## run the tests
	$(BIN)/pytest -n auto

coverage: dev ## run the tests and say which lines and branches none of them reaches
	$(BIN)/pytest -n auto --cov --cov-report=term --cov-report=html

bench: $(VENV)/.installed-bench ## run all benchmarks (hours) and write docs/benchmarks.md
	$(BIN)/python -m benchmarks --page docs/benchmarks.md

bench-quick: $(VENV)/.installed-bench ## run all benchmarks at small sizes (minutes), as a check of their answers
	$(BIN)/python -m benchmarks --quick

test-browser: $(VENV)/.installed-browser $(VENV)/.chromium ## open the HTML reports in a real browser
	$(BIN)/pytest -m browser tests/browser

test-live: dev ## try it on a real control plane, where KUBEBUILDER_ASSETS names a folder with its binaries
	$(BIN)/pytest -rs tests/live

pictures: $(VENV)/.installed-browser $(VENV)/.chromium ## draw the pictures of the documentation anew
	$(BIN)/python -m tests.browser.pictures

image: ## build the container image pod-planner:VERSION, with docker or podman
	@tool=; for each in docker podman; do \
		if command -v $$each >/dev/null && $$each info >/dev/null 2>&1; then tool=$$each; break; fi; \
	done; \
	[ -n "$$tool" ] || { echo "make image needs docker or podman, and a daemon that answers: none is here" >&2; exit 1; }; \
	version=$$(sed -n 's/^__version__ = "\(.*\)"/\1/p' planner/version.py); \
	$$tool build -f deploy/Dockerfile -t pod-planner:$$version .

docs: dev ## write the reference, and put into the other pages what their commands print
	$(BIN)/python -m docs.reference_pages
	$(BIN)/python -m docs.console

format: dev ## format the code and sort its imports
	$(BIN)/ruff check --select I --fix
	$(BIN)/ruff format

clean: ## remove .venv, caches and build results
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find benchmarks docs models planner tests -type d -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.created:
	@command -v $(PYTHON) >/dev/null || \
		{ echo "planner needs Python 3.11 or newer, and there is no '$(PYTHON)'; try make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "planner needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) -V 2>&1); try make PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml constraints.txt
	$(PIP_INSTALL) -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP_INSTALL) -e '.[dev]'
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed-dev
	$(PIP_INSTALL) -e '.[bench]'
	@touch $@

$(VENV)/.installed-browser: $(VENV)/.installed-dev
	$(PIP_INSTALL) -e '.[browser]'
	@touch $@

# The system's Chromium, installed where that is allowed.
$(VENV)/.chromium: $(VENV)/.created
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
		command -v google-chrome >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
			{ $(APT_INSTALL) || { apt-get update -q && $(APT_INSTALL); }; }; } || \
		{ echo "the browser tests need Chromium, and it can't be installed here: try apt-get install chromium as root" >&2; exit 1; }
	@touch $@
