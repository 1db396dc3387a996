# make demo: a first job.  make test: the tests.  Needs Python (>= 3.11) and make, nothing else.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready

.PHONY: setup demo test test-slow test-minimum fuzz lint bench bench-quick reproduce reproduce-quick clean

# Real data that lie beside the project are found; RPRNMF_DATA names another folder.
ifneq ($(wildcard ../shared/data),)
export RPRNMF_DATA ?= $(abspath ../shared/data)
endif

setup: $(READY)

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $(READY)

demo: $(READY)
	$(RUN) examples/first_job.py

# Checks of their own, for their time: blocks of Dask, clusters, killed processes, large fits, the
# experiments of the paper.
CLUSTERS := tests/cli/test_scheduler.py tests/cli/test_recommend_parts.py
LARGE := tests/test_memory.py tests/fuzz tests/checkpoints/test_kill.py \
	tests/recommend/test_movielens.py tests/experiments
SLOW := tests/remote $(CLUSTERS) $(LARGE)
test: $(READY)
	$(RUN) -m pytest --quiet --numprocesses 2 $(SLOW:%=--ignore %)

test-slow: $(READY)
	$(RUN) -m pytest --quiet --numprocesses 2 $(SLOW)

# The lowest versions that pyproject.toml declares, in an environment of their own. Left out are
# slow parts, which no version of a dependency changes: what default settings promise, the monotone
# property, the experiments. What numba compiles is kept apart too: another version of numba would
# overwrite it.
MINIMUM := .venv-minimum
NOT_THERE := tests/test_promises.py tests/properties/test_monotone.py $(CLUSTERS) $(LARGE) \
	tests/remote/test_cluster.py tests/remote/test_workers.py
test-minimum: $(MINIMUM)/.ready
	NUMBA_CACHE_DIR=$(abspath $(MINIMUM))/numba \
		$(MINIMUM)/bin/python -m pytest --quiet --numprocesses 2 $(NOT_THERE:%=--ignore %)

$(MINIMUM)/.ready: pyproject.toml tests/minimum.txt
	$(PYTHON) -m venv $(MINIMUM)
	$(MINIMUM)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]' \
		--constraint tests/minimum.txt
	touch $@

# Thousands of random calls; tests/fuzz/RESULT.md keeps what came out.
CALLS ?= 6000
SEED ?= 0
fuzz: $(READY)
	$(RUN) -m tests.fuzz --calls $(CALLS) --seed $(SEED)

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# Beside other programs (each in an environment of its own); results in benchmarks/results.
bench: $(READY)
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(RUN) benchmarks/environments.py
	$(RUN) benchmarks/run.py

bench-quick: $(READY)
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(RUN) benchmarks/run.py --quick

# Every experiment of the paper; results/report.html. Hours; it may be stopped and goes on.
reproduce: $(READY)
	$(RUN) -m rprnmf reproduce all

# The same in minutes, smaller, on the data sets that are there; results-quick/report.html.
reproduce-quick: $(READY)
	$(RUN) -m rprnmf reproduce all --quick || test $$? -eq 3

clean:
	rm -rf $(VENV) $(MINIMUM) build dist .mypy_cache .ruff_cache .hypothesis
