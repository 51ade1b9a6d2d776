# Two commands do everything: `make reproduce` and `make test`. Each builds .venv when it is missing
# or older than the lock. In an environment of your own, add PYTHON=python: nothing is created then.

PYTHON ?= .venv/bin/python
BASE ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

export PYTHONPATH := $(CURDIR)/src
export OPENBLAS_NUM_THREADS := 1

ifeq ($(PYTHON),.venv/bin/python)
ENVIRONMENT := .venv/ready
SPARK := .venv/spark
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup reproduce verify mutants proofs paper site test lab bench lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(ENVIRONMENT) ## build .venv from requirements.lock (BASE=python3.12 chooses the Python)

reproduce: $(ENVIRONMENT) ## the main job: run the notebooks (NOTEBOOKS="04 05" FORCE=1 SET="epsilon=1")
	@$(PYTHON) -m compendium reproduce $(NOTEBOOKS) $(if $(FORCE),--force) $(if $(ACCEPT),--accept) $(if $(SET),--set $(SET))

verify: $(ENVIRONMENT) ## a verdict for each statement of the paper (VERIFY="--section V-C --verdict slip", VERIFY=--limits)
	@$(PYTHON) -m compendium verify $(VERIFY)

mutants: $(ENVIRONMENT) ## alter the library's formulas one by one: does the ledger see it? (MUTANTS="noise")
	@$(PYTHON) -m compendium mutants $(MUTANTS)

COQ = coq libcoq-interval libcoq-coquelicot
proofs: ## have Coq check every theorem of proofs/ (Debian: coq, libcoq-interval, libcoq-coquelicot)
	@command -v coqc > /dev/null || { echo "The proofs are not checked, as there is no Coq: apt-get install $(COQ)" >&2; exit 2; }
	@mkdir -p build/proofs
	@! grep -nE '\b(Admitted|admit|Admit)\b' proofs/*.v || { echo "A proof is left open." >&2; exit 1; }
	@for file in proofs/_CoqProject proofs/*.v; do cmp -s $$file build/$$file || cp $$file build/proofs; done
	@cd build/proofs && coq_makefile -f _CoqProject -o Makefile && $(MAKE) --no-print-directory -s

paper: $(ENVIRONMENT) ## typeset paper/report.pdf and paper/beyond.pdf from the committed numbers
	@$(PYTHON) -m compendium report

site: $(ENVIRONMENT) ## the web pages, offline: build/site/index.html
	@$(PYTHON) -m compendium site

# What is compiled once is kept: many of the tests start processes, each of which would compile it anew.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(ENVIRONMENT) $(SPARK) ## style, types, tests and doctests
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) -m pytest -p no:nbval --ignore=tests/workshop/ledger/test_claims.py
	$(PYTHON) -m pytest --no-cov -p support.nbval_guards --nbval --nbval-current-env --dist=loadscope --no-loadscope-reorder tests/workshop/ledger/test_claims.py notebooks

lab: $(ENVIRONMENT) ## open the notebooks in JupyterLab
	$(PYTHON) -m jupyterlab --notebook-dir=notebooks

bench: .venv-bench/ready $(ENVIRONMENT) ## ratios against other software, in an environment of its own; 1 if one is missed
	@status=0; \
	.venv-bench/bin/python -m benchmarks.run || status=1; \
	.venv-bench/bin/python -m benchmarks.microdata || status=1; \
	$(PYTHON) -m benchmarks.notebooks || status=1; \
	exit $$status

lock: $(ENVIRONMENT) ## resolve the dependencies of pyproject.toml anew, without addresses
	$(COMPILE) --extra notebooks --extra site --extra test --extra setup -o requirements.lock
	$(COMPILE) --extra spark --constraint requirements.lock -o requirements-spark.lock
	$(COMPILE) benchmarks/rivals.in -o benchmarks/requirements.lock

clean: ## remove environments, caches and builds
	rm -rf .venv .venv-bench .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage build dist
	find src tests benchmarks notebooks -name __pycache__ -prune -exec rm -rf {} +

COMPILE = $(PYTHON) -m uv pip compile pyproject.toml --generate-hashes --universal --python-version 3.11 \
  --fork-strategy fewest --no-header --no-emit-index-url --quiet

# uv, itself taken from the lock, installs several times faster than pip; where it cannot (a mirror
# that only pip knows of, say), pip does the same from the same hashes.
define install
	@$(@D)/bin/python -m uv pip install --quiet --python $(@D)/bin/python --no-deps --require-hashes -r $< \
	  || $(@D)/bin/python -m pip install --quiet --no-deps --require-hashes -r $<
endef

define build
	@test -n "$(BASE)" || { echo "Python 3.11 or newer is needed, none was found: try make $(MAKECMDGOALS) BASE=/path/to/python" >&2; exit 2; }
	@echo "Building $(@D) from $< with $$($(BASE) --version) (once) ..."
	@rm -rf $(@D)
	@$(BASE) -m venv $(@D)
	@sed -n '/^uv==/,/^[^ ]/{/^uv==/p;/^    --hash/p;}' $< > $(@D)/uv.lock
	@$(@D)/bin/python -m pip install --quiet --require-hashes -r $(@D)/uv.lock
$(install)
	@$(@D)/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@
endef

.venv/ready: requirements.lock pyproject.toml
	$(build)

.venv/spark: requirements-spark.lock .venv/ready
	@echo "Adding PySpark from $< (once) ..."
	$(install)
	@touch $@

.venv-bench/ready: benchmarks/requirements.lock
	$(build)
