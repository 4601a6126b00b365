# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-slow lint bench bench-full clean

demo: $(VENV)/.core
	$(BIN)/epsilons demo

test: $(VENV)/.dev
	$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest -m "not slow"

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The quick form: under ten minutes. It writes benchmarks/RESULTS.md and benchmarks/plots/.
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

# More repetitions, and peers up to 10⁸ rows.
bench-full: $(VENV)/.dev
	$(BIN)/python -m benchmarks --full

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e ".[dev]"
	touch $(VENV)/.core $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
