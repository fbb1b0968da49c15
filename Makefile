# Needs make and Python 3.11 or newer, nothing else. Another Python: make lab PYTHON=python3.12
# Without make (Windows): see the README; these targets only wrap pip and the `warpbook` command.

NEWEST := python3 python3.11 python3.12 python3.13 python3.14 python
NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 11))'
PYTHON ?= $(shell for p in $(NEWEST); do if $$p $(NEW_ENOUGH) 2>/dev/null; then echo $$p; break; fi; done)

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: help lab check test lint notebooks clean

help:
	@echo "make lab        open the workbook in JupyterLab"
	@echo "make check      lint, and the tests that three minutes are enough for"
	@echo "make test       run the tests, every chapter and lab included"
	@echo "make lint       check style and formatting of code and notebooks"
	@echo "make notebooks  run every notebook and store what it shows"
	@echo "make clean      remove the environment and the caches"

lab: $(INSTALLED)
	$(BIN)/warpbook lab

check: lint
	$(BIN)/warpbook test --check

test: $(INSTALLED)
	$(BIN)/warpbook test

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

notebooks: $(INSTALLED)
	$(BIN)/warpbook notebooks --store

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .ruff_cache
	find helpers tests notebooks labs -name __pycache__ -o -name .ipynb_checkpoints 2>/dev/null | xargs rm -rf

# Brought up to date whenever a dependency or a pin changes.
$(INSTALLED): pyproject.toml constraints.txt
	@if [ -z "$(PYTHON)" ] || ! $(PYTHON) $(NEW_ENOUGH) 2>/dev/null; then \
	  echo "Warpbook needs Python 3.11 or newer, and found: $$($(or $(PYTHON),python3) --version 2>&1 || true)." \
	       "Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11"; exit 1; fi
	@if ! $(PYTHON) -c 'import ensurepip' 2>/dev/null; then \
	  echo "$(PYTHON) cannot make environments: its venv module is missing." \
	       "On Debian and Ubuntu: apt-get install python3-venv"; exit 1; fi
	@echo "Making the environment in $(VENV): about three minutes, and 3 GB of downloads where PyTorch brings CUDA."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	@touch $@
