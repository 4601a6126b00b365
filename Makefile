# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Modules are compiled when they are first imported: most of what is installed never is. What is
# compiled is kept beside what is installed, even if the environment says otherwise: without it, each
# of the many processes that tests start compiles everything again.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX ?= $(abspath $(VENV))/compiled
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

.PHONY: demo test tests campaign test-versions fuzz lint style types imports words docs dist bench bench-full clean

# It writes a page too, if what draws one is installed, as `make test` does.
demo: $(VENV)/.core
	$(BIN)/epsilons demo --report demo.html
	@echo "In this folder, epsilons is $(BIN)/epsilons."

# What is quick comes first. Types are checked while tests run, because mypy uses one processor.
test: $(VENV)/.dev
	$(MAKE) --no-print-directory -j 2 style imports words
	$(MAKE) --no-print-directory -j 2 types tests

tests: $(VENV)/.dev
	$(BIN)/python -m pytest

# The same simulations and random cases of the new house, ten times as many, with their figures.
campaign: $(VENV)/.dev
	EPSILONS_CAMPAIGN=1 EPSILONS_FIGURES=$(CURDIR)/figures.txt $(BIN)/python -m pytest tests/next

# The core and two engines with the oldest or the newest versions that pyproject.toml allows:
# make test-versions VERSIONS=oldest.
VERSIONS ?= oldest
OTHER := .venv-$(VERSIONS)
test-versions:
	$(PYTHON) -m venv $(OTHER)
	$(PYTHON) scripts/versions.py $(VERSIONS) > $(OTHER)/constraints.txt
	$(OTHER)/bin/python -m pip install --quiet --disable-pip-version-check -c $(OTHER)/constraints.txt -e ".[duckdb,pandas,report,data,postgres]" pytest pytest-randomly pytest-xdist hypothesis scipy statsmodels
	$(OTHER)/bin/epsilons demo --report demo.html
	$(OTHER)/bin/python -m pytest tests/mechanisms tests/noise tests/tasks

# Looks for neighbouring data that can be distinguished, for as long as you like: make fuzz MINUTES=30.
MINUTES ?= 10
fuzz: $(VENV)/.dev
	$(BIN)/python scripts/fuzz.py --minutes $(MINUTES)

lint: types style imports words

types: $(VENV)/.dev
	$(BIN)/mypy

style: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

imports: $(VENV)/.dev
	$(BIN)/lint-imports

# Finds words that are misspelt, in code, messages and pages.
words: $(VENV)/.dev
	$(BIN)/codespell src tests docs benchmarks scripts *.md

# The site of the documentation, in site/.
docs: $(VENV)/.docs
	$(BIN)/python scripts/assemble.py .site
	cd .site && $(abspath $(BIN))/zensical build --clean --strict
	rm -rf site && mv .site/site site && rm -rf .site
	@echo "The site is in site/. To read it: $(BIN)/python -m http.server --directory site"

# What is published: a wheel and a source archive, checked. With TAG=v1.2.3 the versions must agree.
TAG ?=
dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python scripts/versions.py tag "$(TAG)"
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*

# The quick form: under ten minutes. It prints, and writes benchmarks/RESULTS.md.
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

# More repetitions, and peers up to 10⁸ rows.
bench-full: $(VENV)/.dev
	$(BIN)/python -m benchmarks --full

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e ".[report]"
	touch $@

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e ".[docs,report]"
	touch $(VENV)/.core $@

# Every package is pinned, so pip need not search for versions that fit. `pip check` notices if one
# is missing. PySpark takes as long as all others, so it is installed beside them.
$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	grep -v '^pyspark=' constraints.txt > $(VENV)/others.txt
	$(PIP) --no-deps pyspark & $(PIP) --no-deps -r $(VENV)/others.txt && wait $$!
	$(PIP) --no-deps -e .
	$(BIN)/python -m pip check
	touch $(VENV)/.core $(VENV)/.docs $@

clean:
	rm -rf $(VENV) .venv-oldest .venv-newest figures.txt .mypy_cache .pytest_cache .ruff_cache .hypothesis dist site .site
