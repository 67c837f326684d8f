# Two commands set up, run the main job and pass the tests: `make demo` and `make test`.
.DEFAULT_GOAL := help
# The newest Python of those that every locked package supports, with venv (a package of its own on Debian).
PYTHONS := python3.13 python3.12 python3.11 python3
USABLE := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(firstword $(foreach python,$(PYTHONS),$(if $(shell $(python) -c '$(USABLE)' 2>/dev/null && echo yes),$(python))))
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# uv's cache if there is one; else one in .venv, removed after the installation: 0.1 GB, and nothing is left in the home folder.
CACHE := $(or $(UV_CACHE_DIR),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/uv)
ifeq ($(shell test -d '$(CACHE)' && echo there),)
export UV_CACHE_DIR := $(CURDIR)/.venv/.cache
DROP_CACHE = @rm -rf .venv/.cache
endif
NO_PYTHON := no Python 3.11 to 3.13 with venv was found: apt-get install python3 python3-venv (or make PYTHON=/path/to/python3.13)
INSTALL = $(BIN)/python infra/install.py
export DVC_NO_ANALYTICS := 1
# Without cached bytecode every command compiles its imports anew: 5 s of CPU for Great Expectations alone.
unexport PYTHONDONTWRITEBYTECODE
# One worker more than cores, since many tests wait for a server. Groups and their order: tests/groups.py.
WORKERS ?= $(shell expr $$(nproc 2>/dev/null || echo 1) + 1)
SHARED := $(if $(filter-out 0 1,$(WORKERS)),-n $(WORKERS))
RUNS ?= 1000000
PROFILE ?= flickr8k
.PHONY: help setup data demo experiments test test-long test-all fuzz lint audit docs ui lock bare clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.ready ## make the environment in .venv from requirements.lock, and fetch the dictionary and voices (20 MB)
.venv/.ready: requirements.lock requirements-torch.lock infra/uv.lock pyproject.toml infra/install.py infra/trim.py
	@test -x $(BIN)/python || test -n '$(PYTHON)' || { echo "$(NO_PYTHON)" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-cache-dir --require-hashes --requirement infra/uv.lock
	$(INSTALL) requirements.lock --torch
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	$(BIN)/python infra/trim.py
	$(DROP_CACHE)
	@hearsight data --dictionary --voices || echo "warning: not all was fetched; 'hearsight doctor' says what is lost, and 'make data' tries again"
	@touch $@

.venv/.ready-dev: .venv/.ready requirements-dev.lock
	$(INSTALL) requirements-dev.lock
	$(BIN)/python infra/trim.py
	$(DROP_CACHE)
	@touch $@

data: setup ## fetch the sample's packages of real pages and images (a second call fetches nothing)
	hearsight data

demo: setup ## run the whole pipeline on the sample web, small; ends with results and pages
	hearsight doctor
	hearsight data
	hearsight demo

# With DATA: a profile of `hearsight profile list` on the files of that folder.
experiments: $(if $(DATA),setup,data) ## train the large tables (50 min; a second call continues), or a profile's: DATA=/path/to/flickr8k
	hearsight experiments $(if $(DATA),--data '$(DATA)' --profile '$(PROFILE)')

test: .venv/.ready-dev ## run the quick tests on all cores (no network, no GPU, minutes; WORKERS=1: in one process)
	pytest $(SHARED)

test-long: .venv/.ready-dev ## run the tests of clusters, servers, browsers and whole chains (no network, no GPU)
	pytest $(SHARED) -m "long and not slow"

test-all: .venv/.ready-dev ## run every test, every kill point and all drawn examples (an hour or more on two cores)
	HEARSIGHT_TESTS=thorough pytest $(SHARED) -m "slow or not slow"

fuzz: .venv/.ready-dev ## run every parser of untrusted bytes on a million inputs (hours; a second call continues; RUNS=100000)
	python -m tests.fuzz.many --runs $(RUNS)

lint: .venv/.ready-dev ## style, types, import rules and secrets
	ruff check . && ruff format --check . && mypy && lint-imports
	git ls-files -z | xargs -0 detect-secrets-hook --baseline .secrets.baseline

audit: .venv/.ready-dev ## SBOM, licences and known vulnerabilities of the installed packages, in build/audit
	test -x .venv/audit/bin/python || $(BIN)/uv venv --quiet --python $(BIN)/python .venv/audit
	$(BIN)/uv pip install --quiet --python .venv/audit/bin/python --require-hashes --no-deps --requirements infra/audit.lock
	$(DROP_CACHE)
	python infra/audit.py .venv/audit/bin $(BIN)/python

ui: setup ## start everything that is looked at, on one start page: results, checks, rating, search, MLflow, Prefect
	python -m flows.ui

docs: setup ## write docs/cli.md from the help texts of the commands
	python -m components.cli.reference

# The demo's packages are resolved first, then the others within those versions, for every platform and version of Python at once,
# from PyPI whose hashes all mirrors share. torch and what belongs to its builds (CUDA) is taken out.
EXTRAS = --extra asr
COMPILE = env -u UV_FIND_LINKS -u UV_TORCH_BACKEND $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate
WITHOUT_TORCH = awk '/^[^ ]/ {skip = /^(torch|triton|cuda-[a-z]+|nvidia-[a-z0-9-]+)==/} !skip'
lock: setup ## resolve pyproject.toml into requirements.lock (the demo) and requirements-dev.lock (tests and lint as well) again
	$(COMPILE) $(EXTRAS) pyproject.toml -o requirements.lock > /dev/null
	$(COMPILE) --extra dev --constraints requirements.lock pyproject.toml -o requirements-dev.lock > /dev/null
	grep -oE '^torch==[0-9.]+' requirements.lock > requirements-torch.lock
	for lock in requirements.lock requirements-dev.lock; do $(WITHOUT_TORCH) $$lock > .venv/lock && mv .venv/lock $$lock; done
	$(COMPILE) --constraints requirements.lock infra/servers.in -o infra/servers.lock > /dev/null
	for name in uv audit; do $(COMPILE) infra/$$name.in -o infra/$$name.lock > /dev/null || exit 1; done

bare: ## build bare Debians 12 and 13 and run demo, test and test-long in each (root, debootstrap, 24 GB; CASES="debian13-root-demo")
	$(PYTHON) infra/bare/run.py $(CASES)

clean: ## remove what runs made (the fetched packages and the fetch store stay)
	rm -rf data/english data/cleaned data/captioners data/paper data/portuguese data/stamps data/stamps_synthetic data/spoken .hearsight .dvc/cache .dvc/tmp mlflow.db mlartifacts
	find reports -type f ! -name none.json -delete
