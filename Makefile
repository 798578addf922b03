# One line a target. Everything runs in .venv, which is made on first use.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
STAMP := $(VENV)/.installed
# Structure, model and text, the store, and a flow of each kind: `make quick`.
QUICK := tests/structure tests/unit tests/contract $(foreach one,story remember recall beliefs cli hooks mcp_calls mirror,tests/flows/test_$(one).py)

.PHONY: setup demo test floors quick quality test-postgres failover test-agents test-adapters test-importers test-js test-encryption test-ui pictures mcp-conformance lint docs torture certify erasure roles strangers evaluation fuzz budget bench felt performance embedder-figures dist check-platforms site clean coverage

setup: $(STAMP)
$(CORE): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "limpet needs Python 3.11 or newer: make PYTHON=/path/to/python3"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $(CORE)
$(STAMP): $(CORE)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e . --group dev
	@touch $(STAMP)

demo: $(CORE)  ## two sessions in separate processes: remember, recall, correct, explain
	@$(BIN)/python examples/demo.py

quick: setup  ## between commits: structure, models, store, and the main flows, in a minute or two
	@$(BIN)/python -m pytest -n auto --dist loadgroup -m "not measurement" -k "not postgres" $(QUICK)

test: setup  ## the whole everyday suite; a few examples of every property
	@$(BIN)/python -m pytest -n auto --dist loadgroup -m "not measurement"

floors:  ## the whole everyday suite with the oldest version of each dependency that pyproject.toml allows, in an environment of its own
	@test -x .venvs/floors/bin/python || $(PYTHON) -m venv .venvs/floors
	@.venvs/floors/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1" uv
	@.venvs/floors/bin/python -m uv pip compile --quiet --resolution lowest-direct --output-file .venvs/floors/oldest.txt pyproject.toml
	@.venvs/floors/bin/python -m pip install --quiet --disable-pip-version-check -e . --group dev --constraint .venvs/floors/oldest.txt
	@.venvs/floors/bin/python -m pytest -n auto --dist loadgroup -m "not measurement"

quality: setup  ## all of tests/quality, measurements over large sets of questions included, and what an optional embedder states
	@$(BIN)/python -m pytest -n auto --dist loadgroup tests/quality tests/unit/test_calibration.py

test-postgres: setup  ## tenants at full count; properties and the state machine, written for files, on a PostgreSQL server from a wheel
	@LIMPET_TEST_POSTGRES=1 $(BIN)/python -m pytest tests/property/test_tenants.py tests/contract tests/flows/test_postgres.py tests/flows/test_copy.py -q -k "postgres or tenant"
	@LIMPET_TEST_POSTGRES=1 $(BIN)/python -m pytest tests/flows/test_failover.py tests/flows/test_between.py tests/flows/test_serve.py -q -k "not fifty"
	@LIMPET_TEST_POSTGRES=stores $(BIN)/python -m pytest -q -n 2 $(foreach one,state_machine beliefs invariants restate one_ranking,tests/property/test_$(one).py) -k "not no_byte and not no_command"

failover: setup  ## the primary is killed under 8 writers and its standby promoted, TIMES=20; summed in benchmarks/results
	@$(BIN)/python -m tests.failover --times $(or $(TIMES),20)

test-encryption: setup .encryption/.installed  ## encrypted stores: with apsw-sqlite3mc in the place of apsw
	@PYTHONPATH=.encryption $(BIN)/python -m pytest tests/encryption -q

.encryption/.installed: pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --no-deps --target .encryption apsw-sqlite3mc
	@touch $@

test-agents: setup  ## real Claude Code, Codex, Copilot CLI, OpenCode, Gemini CLI, Qwen Code and Cline, from npm (2.2 GB), against a model API of the tests
	@LIMPET_TEST_AGENTS=1 $(BIN)/python -m pytest tests/agents -q

test-ui: setup  ## the web page in a real Chromium, with axe-core; needs: apt-get install chromium npm
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group ui
	@LIMPET_TEST_UI=1 $(BIN)/python -m pytest tests/ui -q -n 0

pictures: setup  ## take the pictures of docs/ui/ anew, which make test-ui compares the pages with; look at them before they are kept
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group ui
	@LIMPET_TEST_UI=renew $(BIN)/python -m pytest tests/ui/test_pictures.py -q -n 0

test-adapters: setup  ## adapters against the frameworks themselves, each in an environment of its own (3 GB); ONLY="langgraph adk" takes these
	@$(BIN)/python -m tests.adapters $(ONLY)

test-js: setup  ## the JavaScript client: types by tsc, tests under node against a real server; takes TypeScript and the AI SDK from npm
	@cd packages/js && npm install --silent --no-audit --no-fund --no-package-lock && npx tsc --project . && node --test test/

test-importers: setup  ## imports of files that the newest mem0, basic-memory and MCP reference server write here, an environment each
	@$(BIN)/python -m tests.importers .venv-importers
	@LIMPET_IMPORTERS=.venv-importers/files $(BIN)/python -m pytest tests/flows/test_importers.py -q

mcp-conformance: setup  ## the protocol's own conformance suite against limpet over HTTP; says what to install if Node is missing
	@$(BIN)/python -m tests.conformance

coverage: setup  ## the same with line and branch coverage, at least 90 %; takes twice as long
	@$(BIN)/python -m coverage erase
	@$(BIN)/python -m coverage run -m pytest -n auto --dist loadgroup -m "not measurement"
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage report --fail-under=90

lint: setup  ## style, types, import direction, generated pages up to date
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports && $(BIN)/python -m docs.generate --check

docs: setup  ## write anew docs/reference/, man/limpet.1, what the examples of the pages answer, and the picture of a terminal
	@$(BIN)/python -m docs.generate
	@$(BIN)/python -m docs.licences
	@$(BIN)/python -m docs.console
	@$(BIN)/python -m docs.picture

torture: setup  ## kill -9 of writers at random, summed in benchmarks/results; TO=kills SECONDS=at most, from where the last run stopped
	@$(BIN)/python -m tests.torture --to $(or $(TO),10000) --seconds $(or $(SECONDS),3600)

certify: setup  ## the whole certificate: the power lost at every step of 2,000 operations; FOLDER=on the disk to be tried
	@$(BIN)/python -m tests.certify $(or $(FOLDER),.) --whole --record

erasure: setup  ## a thousand random purges, each followed by a scan of every file of the folder
	@LIMPET_PURGES=500 $(BIN)/python -m pytest tests/flows/test_erasure.py -q -k campaign

roles: setup  ## 10,000 random calls of four tokens, none of which may read or change a row of another scope
	@LIMPET_ROLE_CALLS=5000 $(BIN)/python -m pytest tests/property/test_roles.py -q

strangers: setup  ## how long a call takes while 500 slow clients and forged logins try to keep it from the server
	@$(BIN)/python -m benchmarks.strangers

evaluation: setup  ## `limpet eval` on a generated history of 60 sessions whose answers are known, and on nine more
	@LIMPET_SESSIONS=60 $(BIN)/python -m pytest tests/flows/test_evaluate.py -q
	@$(BIN)/python -m benchmarks.needs --histories 10

fuzz: setup  ## a million hostile inputs in process and 10,000 each to command line, HTTP, socket and stdin, from where the last run stopped (TO=inputs SECONDS=each kind JOBS=at a time); then hooks, events, readers and properties with new seeds
	@$(BIN)/python -m tests.fuzz $(if $(TO),--to $(TO)) --seconds $(or $(SECONDS),3600) $(if $(JOBS),--jobs $(JOBS))
	@LIMPET_FUZZ=10000 $(BIN)/python -m pytest tests/property/test_hooks_fuzz.py -q
	@LIMPET_FUZZ=20000 $(BIN)/python -m pytest tests/property/test_hostile_events.py -q -k "not torn"
	@LIMPET_FUZZ=100000 $(BIN)/python -m pytest tests/property/test_hostile_events.py -q -k torn
	@LIMPET_FUZZ=100000 $(BIN)/python -m pytest tests/property/test_readers.py -q
	@LIMPET_FUZZ=500 $(BIN)/python -m pytest -q -m hypothesis -n auto --dist loadgroup
	@LIMPET_FUZZ=10000 $(BIN)/python -m pytest tests/flows/test_server_limits.py -q

budget: setup  ## what the code takes, a package a line; limits of tests/structure/budget.json that it is below are lowered
	@$(BIN)/python -m tests.structure.budget --write

bench: setup  ## speed table; quality: python -m benchmarks.locomo --data FILE
	@$(BIN)/python -m benchmarks.speed --sizes 1000,10000

felt: setup  ## what a user waits for, of 1,000 and 10,000 turns: whole calls and processes; README and docs/performance.md from it
	@$(BIN)/python -m benchmarks.felt --record

performance: setup  ## limpet beside py-memori in one run, and docs/performance.md from it; SIZES=1000,10000 PMB=a Python with pmb-ai
	@$(BIN)/python -m benchmarks.performance $(if $(SIZES),--sizes $(SIZES)) $(if $(PMB),--pmb $(PMB))

embedder-figures: setup  ## sha256 and calibration of our own model anew; MODEL=FILE puts another one in its place
	@$(BIN)/python -m benchmarks.tune --part embedder --held-back --write $(if $(MODEL),--model $(MODEL))

dist: setup  ## wheel and sdist, built twice and compared, installed into a bare environment and tried; CycloneDX list; PYTHONS="python3.12 python3.13" tries these too
	@test -x .venvs/release/bin/python || $(PYTHON) -m venv .venvs/release
	@.venvs/release/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@.venvs/release/bin/python -m pip install --quiet --disable-pip-version-check --group release
	@.venvs/release/bin/python -m release.dist $(PYTHONS)

check-platforms: setup  ## which Python versions and platforms have wheels of everything limpet needs; writes docs/reference/platforms.md
	@$(BIN)/python -m release.platforms

site: setup  ## the documentation as a site in site/, searchable, without anything from elsewhere; a broken link or a warning ends it
	@test -x .venvs/site/bin/python || $(PYTHON) -m venv .venvs/site
	@.venvs/site/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@.venvs/site/bin/python -m pip install --quiet --disable-pip-version-check --group site
	@$(BIN)/python -m release.site .venvs/site

clean:
	@rm -rf $(VENV) .venvs .encryption site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
