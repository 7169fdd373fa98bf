# make paper   every experiment of the paper: figures, a verdict on each claim, results/paper/report.html
# make check   the quick tests, in two minutes: for daily work
# make test    every test and doctest
# make torture long versions of the tests that damage things
# make lint    style, types, and who may import whom
# make bench   speed
# make docs    the documentation as a site, in site/; make docs-serve shows it while you write
# make figures the documentation's figures, by simulation, and its tables, from the result files of the benchmarks
# make release wheel and source distribution, checked in fresh environments; everything but the upload
# make clean   all of the above undone, the environment included
#
# Needs Python 3.11 or later and make; the rest is installed into .venv, once.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
# The site is made in the development environment if there is one, else in one of its own: an environment in .venv that is
# somebody's own stays as it is.
DOCS_BIN := $(if $(wildcard $(READY)),$(BIN),.venv-docs/bin)
DOCS_READY := $(if $(wildcard $(READY)),$(READY),.venv-docs/ready)

.PHONY: install paper check test torture lint bench docs docs-serve figures release clean

install: $(READY)

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

.venv-docs/ready: pyproject.toml constraints.txt
	test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[lab,cluster,arena,docs]'
	touch $@

paper: $(READY)
	$(BIN)/multiduel paper

check: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "not slow"

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadgroup

torture: $(READY)
	$(BIN)/python tests/fuzz/snapshots.py --mutations 3000
	$(BIN)/python tests/fuzz/inputs.py --tries 3000
	$(BIN)/python tests/fuzz/arena.py --kills 25
	$(BIN)/python tests/fuzz/attack.py
	$(BIN)/python tests/fuzz/forged_logs.py --every 8
	MULTIDUEL_ARENA_HISTORIES=1000x60 $(BIN)/python -m pytest -q tests/arena/service/test_state_machine.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python benchmarks/bench.py

docs: $(DOCS_READY)
	NO_MKDOCS_2_WARNING=1 $(DOCS_BIN)/mkdocs build --strict --quiet
	@echo "The site is in site/: open site/index.html."

docs-serve: $(DOCS_READY)
	NO_MKDOCS_2_WARNING=1 $(DOCS_BIN)/mkdocs serve

figures: $(READY)
	$(BIN)/python docs/scripts/figures.py
	$(BIN)/python benchmarks/verdicts.py page
	$(BIN)/python benchmarks/standings_page.py
	$(BIN)/python benchmarks/batches.py page
	$(BIN)/python benchmarks/votes.py page
	$(BIN)/python benchmarks/llmfao.py page
	$(BIN)/python benchmarks/rankers_quality.py page
	$(BIN)/python benchmarks/due_duel.py tables
	$(BIN)/python benchmarks/arena.py page
	$(BIN)/python benchmarks/judges.py page

release: $(READY) lint docs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[release]'
	$(BIN)/python -m pytest -q tests/test_package.py
	$(BIN)/python -m pytest -q tests/test_documents.py -k 'not block_runs'
	$(BIN)/python tools/release.py

clean:
	rm -rf .venv .venv-docs results site dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
