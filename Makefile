# Two commands do everything from nothing: `make demo` and `make test`.
# Both create .venv and install what they need; a stamp file remembers what is installed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NODE   := javascript/node_modules
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help demo test lint javascript check bench build release-check release-lint matrix docs clean

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

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

demo: $(VENV)/.user  ## learn topics from the docstrings of installed packages, show them, write a report
	@$(BIN)/fdmix demo --out demo

test: $(VENV)/.test  ## all tests
	@$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/.dev javascript  ## lint, format, types, import contracts; the same for the report's JavaScript
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

# Types, lint and format of the report's page. A machine without Node.js skips them, unless FDMIX_SKIP_NOTHING is set.
javascript:  ## types, lint and format of the report's JavaScript
	@if command -v npm >/dev/null; then $(MAKE) -s --no-print-directory $(NODE)/.stamp && npm --prefix javascript run --silent check; \
	elif [ -n "$$FDMIX_SKIP_NOTHING" ]; then echo "checking the report's JavaScript needs Node.js and npm"; exit 1; \
	else echo "skipped: checking the report's JavaScript needs Node.js and npm, which are not installed"; fi

$(NODE)/.stamp: javascript/package-lock.json
	@echo "installing what the checks of JavaScript need"
	@npm --prefix javascript ci --silent --no-audit --no-fund
	@touch $@

check: lint  ## lint, types, import contracts, fast tests: before every commit
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow" --hypothesis-profile=quick

$(VENV)/.bench: pyproject.toml $(VENV)/.user
	@echo "installing the peers"
	@$(PIP) install --group bench
	@touch $@

bench: $(VENV)/.bench  ## the benchmarks' ratios
	@$(BIN)/python -m benchmarks

$(VENV)/.docs: pyproject.toml $(VENV)/.test
	@echo "installing what the site needs"
	@$(PIP) install --group docs
	@touch $@

docs: $(VENV)/.docs  ## the documentation site: open site/index.html
	@rm -rf build/docs
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --doctree-dir build/docs/pages docs build/docs/site
	@rm -rf site && mv build/docs/site site

$(VENV)/.release: pyproject.toml $(VENV)/.user
	@echo "installing what a release needs"
	@$(PIP) install --group release
	@touch $@

build: $(VENV)/.release  ## sdist and wheel in dist/, built twice and compared
	@$(BIN)/python packaging/make_distributions.py
	@$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz

release-check: build  ## the wheel in an empty environment: fdmix demo, smoke tests, bill of materials
	@$(BIN)/python packaging/check_release.py

release-lint: $(VENV)/.release  ## workflows, forms, citation, conda recipe, container file
	@$(BIN)/python packaging/lint.py

matrix: $(VENV)/.release  ## smoke tests on Python 3.11 to 3.14, with the oldest and newest dependencies
	@$(BIN)/nox

clean:  ## remove the environment and all caches
	rm -rf $(VENV) $(NODE) build dist demo .nox site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
