# Everything runs in .venv, which is made on first use from any Python 3.11 or newer: make PYTHON=python3.12 demo
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CHECKED := src tests testdata benchmarks

# The caller's own installation must not reach the demo or the tests: neither its home nor its settings.
CALLERS_SETTINGS := $(filter KI_%,$(.VARIABLES))
ifneq ($(CALLERS_SETTINGS),)
unexport $(CALLERS_SETTINGS)
endif

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow lint format clean

help: ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

setup: $(STAMP) ## Make .venv and install into it, once

demo: $(STAMP) ## Build a small law firm, ingest it, search it, measure it
	@scripts/demo.sh $(BIN)/ki

test: lint ## Run the linters, the import contract, mypy and the tests
	$(BIN)/pytest -n 2 --dist loadfile -m "not slow"

test-slow: $(STAMP) ## Run the heavy suites
	$(BIN)/pytest -m slow

lint: $(STAMP) ## Run ruff, the import contract and mypy
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/lint-imports
	$(BIN)/mypy

format: $(STAMP) ## Format the code
	$(BIN)/ruff check --fix $(CHECKED)
	$(BIN)/ruff format $(CHECKED)

clean: ## Remove .venv, the demo and all caches
	rm -rf $(VENV) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .grimp_cache

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || \
		{ echo "$(PYTHON): not found. Install Python 3.11 or newer, or name one: make PYTHON=python3.12 setup" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is $$($(PYTHON) -V 2>&1), and 3.11 or newer is needed. Name one: make PYTHON=python3.12 setup" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || \
		{ echo "$(PYTHON) cannot make virtual environments: install the package with its venv module (python3-venv)" >&2; exit 1; }
	@echo "Setting up $(VENV): some minutes the first time, nothing after that"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)
