# make paper   every experiment of the paper: figures, a verdict on each claim, results/paper/report.html
# make test    every test and doctest
# make torture long versions of the tests that damage things
# make lint    style, types, and who may import whom
# make bench   speed
# make clean   all of the above undone, the environment included
#
# Needs Python 3.11 or later and make; the rest is installed into .venv, once.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: install paper test torture lint bench clean

install: $(READY)

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

paper: $(READY)
	$(BIN)/multiduel paper

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadgroup

torture: $(READY)
	$(BIN)/python tests/fuzz/snapshots.py --mutations 3000
	$(BIN)/python tests/fuzz/inputs.py --tries 3000
	$(BIN)/python tests/fuzz/arena.py --kills 25
	MULTIDUEL_ARENA_HISTORIES=1000x60 $(BIN)/python -m pytest -q tests/arena/test_state_machine.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python benchmarks/bench.py

clean:
	rm -rf .venv results dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
