# Two commands do everything from nothing: `make demo` and `make test`.
# Both create .venv and install what they need; a stamp file remembers what is installed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help demo test lint check bench docs clean

help:  ## what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "fdmix needs Python 3.11 or newer; try: make PYTHON=python3.12 ..."; exit 1; }
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install "pip>=25.1"

$(VENV)/.user: pyproject.toml | $(BIN)/python
	@echo "installing fdmix"
	@$(PIP) install -e '.[plots]'
	@echo "compiling (once)"
	@folder=$$(mktemp -d) && $(BIN)/fdmix demo --documents 400 --topics 5 --out $$folder >/dev/null 2>&1; rm -rf $$folder
	@touch $@

$(VENV)/.test: pyproject.toml $(VENV)/.user
	@echo "installing what the tests need"
	@$(PIP) install --group test
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.test
	@echo "installing what the checks need"
	@$(PIP) install --group dev
	@touch $@

demo: $(VENV)/.user  ## learn topics from the docstrings of installed packages, and show them
	@$(BIN)/fdmix demo --out demo

test: $(VENV)/.test  ## all tests
	@$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/.dev  ## lint, format, types, import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

check: lint  ## lint, types, import contracts, fast tests: before every commit
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow"

$(VENV)/.bench: pyproject.toml $(VENV)/.user
	@echo "installing the peers"
	@$(PIP) install --group bench
	@touch $@

bench: $(VENV)/.bench  ## the benchmarks' ratios
	@$(BIN)/python -m benchmarks

docs: $(VENV)/.test  ## check that the code in README and docs runs
	@$(BIN)/python -m pytest -q tests/test_documentation.py

clean:  ## remove the environment and all caches
	rm -rf $(VENV) build dist demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
