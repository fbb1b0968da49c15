# Needs make and Python 3.11 to 3.14, nothing else. Another Python: make lab PYTHON=python3.12
# Without make (Windows): see the README; these targets only wrap pip and the `warpbook` command.

CANDIDATES := python3 python3.11 python3.12 python3.13 python3.14 python
SUITABLE := -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))'
PYTHON ?= $(shell for p in $(CANDIDATES); do if $$p $(SUITABLE) 2>/dev/null; then echo $$p; break; fi; done)

# The container keeps its environment elsewhere.
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: help environment lab check test lint notebooks gpu versions site clean

help:
	@echo "make lab        open the workbook in JupyterLab"
	@echo "make check      lint, and a quick test of each kind"
	@echo "make test       run the tests, every chapter and lab included"
	@echo "make lint       check style, formatting and types"
	@echo "make notebooks  run every notebook and store what it shows"
	@echo "make gpu        on a machine with an NVIDIA GPU: measure what only a GPU can show"
	@echo "make site       make the course a website, in build/site (half an hour at first)"
	@echo "make versions   try the newest Numba, CuPy, Triton … with the engine (network, minutes)"
	@echo "make clean      remove the environment and the caches"

lab: environment
	$(BIN)/warpbook lab

check: lint
	$(BIN)/warpbook test --check

test: environment
	$(BIN)/warpbook test

lint: environment
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

notebooks: environment
	$(BIN)/warpbook notebooks --store

# Where nothing can be installed, the Python at hand runs what its packages allow; PYTHON=… names another one.
gpu:
	@if $(MAKE) --no-print-directory environment; then $(BIN)/python -m helpers.cli gpu; \
	elif [ -n "$(PYTHON)" ] && $(PYTHON) $(SUITABLE); then \
	  echo "Going on with $(PYTHON) and the packages that it has."; $(PYTHON) -m helpers.cli gpu; else exit 1; fi

versions: environment
	$(BIN)/python -m vgpu.tests.versions

site: environment
	$(BIN)/warpbook site

clean:
	rm -rf $(VENV) build vgpu/build *.egg-info vgpu/*.egg-info .pytest_cache .ruff_cache .mypy_cache
	find helpers vgpu tests notebooks labs -name __pycache__ -o -name .ipynb_checkpoints 2>/dev/null | xargs rm -rf

# Made if it is not there or its Python no longer runs; then installed if a dependency or a pin has changed, or repaired
# if a package is missing or damaged. This takes a second when nothing is to be done.
environment:
	@if ! $(BIN)/python -c 'import pip' 2>/dev/null; then \
	  if [ -z "$(PYTHON)" ] || ! $(PYTHON) $(SUITABLE) 2>/dev/null; then \
	    echo "Warpbook needs Python 3.11 to 3.14, and found: $$($(or $(PYTHON),python3) --version 2>&1 || true)." \
	         "Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11"; exit 1; fi; \
	  if ! $(PYTHON) -c 'import ensurepip' 2>/dev/null; then \
	    echo "$(PYTHON) cannot make environments: its venv module is missing." \
	         "On Debian and Ubuntu: apt-get install python3-venv"; exit 1; fi; \
	  rm -f $(VENV)/.installed $(BIN)/python*; $(PYTHON) -m venv $(VENV); fi
	@$(BIN)/python -m helpers.workbook.install
