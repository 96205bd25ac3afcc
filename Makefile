# Needs make and Python 3.11 or later; everything else goes into .venv. After the first run nothing is fetched.
VENV    := .venv
BIN     := $(VENV)/bin
STAMP   := $(VENV)/.installed
WORKERS ?= 2
ARGS    ?=

# One thread per process: the workers share the cores.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MPLBACKEND ?= Agg
# The theme's advice about its successor is for whoever raises the versions, not for every build.
export NO_MKDOCS_2_WARNING ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow lint format types imports bench docs install clean distclean

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | awk -F '\t' '{ printf "  make %-10s %s\n", $$1, $$2 }'

demo: $(STAMP)  ## Run the main job: a table on the screen, figures in demo-output/
	$(BIN)/python -m apm demo --out demo-output

test: $(STAMP)  ## Run the tests (ARGS="-k name" to choose)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" $(ARGS)

test-slow: $(STAMP)  ## Run the slow tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m slow $(ARGS) || test $$? -eq 5  # 5: there are none

lint: $(STAMP)  ## Check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP)  ## Put the code in form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP)  ## Check types
	$(BIN)/pyright

imports: $(STAMP)  ## Check that dependencies point one way
	$(BIN)/lint-imports --no-logo --no-cache

bench: $(STAMP)  ## Run every benchmark
	@set -e; for file in benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python "$$file"; done

docs: $(STAMP)  ## Build the manual into site/
	$(BIN)/python -m mkdocs build --strict --quiet
	@echo "site/index.html"

install: $(STAMP)  ## Make .venv and install the project into it

$(STAMP): pyproject.toml
	@set -e; \
	suits='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'; \
	if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		found=; \
		for python in $(PYTHON) python3 python3.13 python3.12 python3.11 python; do \
			if "$$python" -c "$$suits" >/dev/null 2>&1; then found="$$python"; break; fi; \
		done; \
		if [ -z "$$found" ]; then \
			echo "No Python 3.11 or later with venv and pip found. Install one, or name it: make PYTHON=/path/to/python" >&2; \
			exit 1; \
		fi; \
		"$$found" -m venv --clear $(VENV); \
	fi; \
	echo "Installing into $(VENV) (once; a few minutes on a slow line)"; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

clean:  ## Remove what builds, tests and caches left
	rm -rf build dist site demo-output .pytest_cache .ruff_cache .hypothesis .import_linter_cache *.egg-info
	find channelcode apm tests examples benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean  ## Also remove .venv
	rm -rf $(VENV)
