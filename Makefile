# The words people type. Every target sets up what it needs in .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Also for what pip installs to build packages with.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
DATA ?= ../shared/data
.DEFAULT_GOAL := help

.PHONY: help demo test test-slow golden check docs options screenshot notebook bench bench-speed bench-millions bench-solvers bench-paper bench-default bench-verdicts bench-review reproduction clean

help:
	@echo "make demo            find abnormal nodes in a built-in graph; writes runs/demo"
	@echo "make test            run the tests"
	@echo "make test-slow       run the tests that take minutes"
	@echo "make golden          compare results with those of BASE=revision, for refactoring"
	@echo "make check           check lint rules, formatting and types"
	@echo "make docs            build the site into site/; open site/index.html"
	@echo "make options         write docs/options.md, the reference of all options"
	@echo "make screenshot      write the pictures of the report and the review page, docs/assets/*.png (needs Chromium)"
	@echo "make notebook        run examples/bond.ipynb and store its outputs (DATA=folder with bond/)"
	@echo "make bench           CPU time and memory on real graphs (DATA=folder with bond/)"
	@echo "make bench-speed     time and memory against a plain padded implementation (10 minutes)"
	@echo "make bench-millions  graphs up to the size of DGraph (about an hour)"
	@echo "make bench-solvers   error and ranking of every solver by network evaluations"
	@echo "make bench-paper     the paper's rows on Disney and Books, 20 trials each"
	@echo "make bench-default   the default preset and its rivals on generated and real graphs (hours)"
	@echo "make bench-verdicts  simulated reviewers: outliers found with verdicts and without (15 minutes)"
	@echo "make bench-review    time and memory of the review page with a million nodes (2 minutes)"
	@echo "make reproduction    all methods on the real graphs, then docs/reproduction.md (a day)"
	@echo "make clean           remove .venv, caches, runs/ and site/"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "egoscore needs Python 3.11 or newer. Name one, for example: make demo PYTHON=python3.12" >&2; exit 1; }
	@echo "Setting up $(VENV) with pinned versions; this takes a few minutes the first time."
	@$(PYTHON) -m venv $(VENV)

# pip's constraints pin every version, so that every set-up is the same.
$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	@$(BIN)/pip install --quiet -e .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/pip install --quiet -e '.[test,docs]'
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed-test
	$(BIN)/pip install --quiet -e '.[test,bench]'
	@touch $@

$(VENV)/.installed-check: $(VENV)/.installed-test
	$(BIN)/pip install --quiet -e '.[test,check]'
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/egoscore detect builtin --out runs/demo

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

test-slow: $(VENV)/.installed-test
	$(BIN)/python -m pytest -q -m slow

BASE ?= HEAD
golden: $(VENV)/.installed-test
	@folder=$$(mktemp -d) && git worktree add -q --detach $$folder/base $(BASE) && \
	PYTHONPATH=$$folder/base:tests $(BIN)/python tests/golden/cases.py --out $$folder/results && \
	PYTHONPATH=.:tests $(BIN)/python tests/golden/cases.py --compare $$folder/results; \
	code=$$?; git worktree remove --force $$folder/base; rm -rf $$folder; exit $$code

check: $(VENV)/.installed-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

options: $(VENV)/.installed
	$(BIN)/python docs/tools/options.py

screenshot: $(VENV)/.installed-test
	$(BIN)/python docs/tools/screenshot.py
	$(BIN)/python docs/tools/review_screenshot.py

notebook: $(VENV)/.installed-bench
	EGOSCORE_DATA=$(abspath $(DATA)) $(BIN)/python docs/tools/notebook.py

bench: $(VENV)/.installed-test
	$(BIN)/python benchmarks/cost.py --data-dir $(DATA)
	$(BIN)/python benchmarks/extraction.py

bench-speed: $(VENV)/.installed-test
	$(BIN)/python benchmarks/speed.py --data-dir $(DATA)

bench-millions: $(VENV)/.installed-test
	$(BIN)/python benchmarks/millions.py hub
	$(BIN)/python benchmarks/millions.py slope
	$(BIN)/python benchmarks/millions.py whole

bench-solvers: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/solvers.py --data-dir $(DATA)

bench-paper: $(VENV)/.installed-bench
	$(BIN)/egoscore bench --datasets disney,books --methods paper --jobs 2 --out runs/bench-paper --data-dir $(DATA)

bench-default: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/ablation.py
	$(BIN)/python benchmarks/default.py --data-dir $(DATA)

bench-verdicts: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/verdicts.py --data-dir $(DATA)

bench-review: $(VENV)/.installed-test
	$(BIN)/python benchmarks/review_page.py

KEPT := benchmarks/results/reproduction
reproduction: $(VENV)/.installed-bench
	$(BIN)/egoscore bench --datasets disney,books --methods all --jobs 2 --out $(KEPT) --data-dir $(DATA)
	$(BIN)/egoscore bench --datasets reddit,enron --methods paper,published,attributes,ego-networks --trials 3 --jobs 2 \
		--out $(KEPT) --data-dir $(DATA)
	$(BIN)/egoscore bench --datasets reddit,enron --methods structure,networks,newer,default --trials 1 --jobs 2 \
		--time-limit 3600 --out $(KEPT) --data-dir $(DATA)
	$(BIN)/python benchmarks/reproduction.py

clean:
	rm -rf $(VENV) runs site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
