# Every target sets up what it needs: a virtual environment in .venv with pinned versions.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NEWEST := .venv-newest
PIP := -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test test-newest test-interpreted lint types contract check bench clean

help:
	@echo "make demo    a small search for the best order of repair, and its report"
	@echo "make test    run the tests"
	@echo "make check   tests, lint, types and import contract: what CI runs"
	@echo "make bench   measure the speed of the game on this machine"
	@echo "make clean   remove the virtual environments"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] <= (3, 13) else \
		"fixfirst needs Python 3.11 to 3.13, this is " + sys.version.split()[0] + "; try: make PYTHON=python3.11 ...")'
	@echo "Setting up $(VENV) (a minute, once) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(PIP) -c constraints.txt -e '.[dev,all]'
	@touch $@

demo: $(READY)
	@$(BIN)/fixfirst demo

test: $(READY)
	$(BIN)/python -m pytest -n auto

# The same source without the compiler: what a debugger sees, and what coverage can count.
test-interpreted: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto tests/game

# The newest versions that pyproject.toml allows, without the pins.
$(NEWEST)/.ready: pyproject.toml
	@$(PYTHON) -m venv $(NEWEST)
	@$(NEWEST)/bin/python $(PIP) --upgrade-strategy eager -e '.[dev]'
	@touch $@

test-newest: $(NEWEST)/.ready
	$(NEWEST)/bin/python -m pytest -n auto tests/envs tests/game

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(READY)
	$(BIN)/mypy

contract: $(READY)
	$(BIN)/lint-imports

check: lint types contract test test-interpreted test-newest

bench: $(READY)
	@$(BIN)/fixfirst bench game

clean:
	rm -rf $(VENV) $(NEWEST)
