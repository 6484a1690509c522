# Two commands for a newcomer: `make sandbox` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH := .venv-bench
RUN := .venv-run

.PHONY: sandbox demo test format-check lint types contracts unit grammar-mutants format bench mutants chaos requirements clean

$(READY): requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	PYTHONWARNINGS="ignore:Editable installation" $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --no-index -e .
	@touch $@

sandbox: $(READY)  ## start the simulated world and the bot; prints the page's address
	$(BIN)/gpubot sandbox

demo: $(READY)  ## play one journey in the sandbox and print it as a conversation
	$(BIN)/python -m sandbox.demo

test: format-check lint types contracts unit grammar-mutants  ## all that CI runs

format-check: $(READY)
	$(BIN)/ruff format --check .
lint: $(READY)
	$(BIN)/ruff check .
types: $(READY)
	$(BIN)/mypy
contracts: $(READY)
	$(BIN)/lint-imports
unit: $(READY)
	$(BIN)/python -m pytest -q -n auto --dist worksteal

grammar-mutants: $(READY)  # a misread date costs five figures, so these run with every test
	$(BIN)/python -m tests.mutants.run language

mutants: $(READY)  ## break the rules one at a time; every break must turn the suite red
	$(BIN)/python -m tests.mutants.run

chaos: $(READY)  ## kill and mislead real bots at random; prints what broke
	$(BIN)/python -m tests.services.money.soak --runs 10000
	$(BIN)/python -m tests.system.chaos

bench: $(BENCH)/.ready $(RUN)/.ready  ## print the ratios, each measured in this run
	$(BENCH)/bin/python -m benchmarks

$(BENCH)/.ready: requirements/bench.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --require-hashes -r requirements/bench.txt
	@touch $@

$(RUN)/.ready: requirements/runtime.txt  # what the image holds: `start` is measured in it
	$(PYTHON) -m venv $(RUN)
	$(RUN)/bin/python -m pip install --quiet --require-hashes -r requirements/runtime.txt
	@touch $@

format: $(READY)  ## rewrite the files the way the checks want them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

requirements:  ## pin the newest versions with hashes, no index addresses
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements/runtime.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra sandbox --extra dev -c requirements/runtime.txt pyproject.toml -o requirements/dev.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra bench --extra sandbox -c requirements/dev.txt pyproject.toml -o requirements/bench.txt

clean:
	rm -rf $(VENV) $(BENCH) $(RUN) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
