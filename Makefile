# Two commands for a machine with Python 3.11 or newer, make and pip: `make demo` and `make test`.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
DEMO := build/demo
BIN := $(VENV)/bin
PROCESSES ?= 6
# Where no accelerator is in sight, the tests that need one are skipped among the others.
GPU := $(wildcard /dev/nvidia0 /dev/kfd /dev/dxg)

.PHONY: demo test lint docs dist bill clean

demo: $(VENV)/installed
	mkdir -p $(DEMO)
	cp fixtures/demo/*.py $(DEMO)/
	@echo "--- the photos that the demo trains on (made once)"
	$(BIN)/python $(DEMO)/make_data.py
	@echo "--- lint"
	$(BIN)/accel-advisor lint --exit-zero $(DEMO)/train.py
	@echo "--- tune"
	cd $(DEMO) && $(abspath $(BIN))/accel-advisor tune train.py --apply
	@echo "--- what changed in $(DEMO)/train.py"
	@diff -u fixtures/demo/train.py $(DEMO)/train.py || true

# Hundreds of processes import the package: none is to compile it again, even where the environment asks for that.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/installed
	$(if $(GPU),$(BIN)/python -m pytest -m gpu $$(grep -rl --include='test_*.py' mark.gpu tests))
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m 'alone$(if $(GPU), and not gpu)' $$(grep -rl --include='test_*.py' mark.alone tests)
	$(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder -m 'not alone$(if $(GPU), and not gpu)'

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The site of docs/, in build/site.
docs: $(VENV)/installed
	$(BIN)/python -m mkdocs build --strict

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "accel-advisor needs Python 3.11 or newer: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[tune,report,server,docs,dev]'
	touch $@

# What a release is made of: archives whose bytes depend on the commit alone, and what they bring.
dist: $(VENV)/installed
	rm -rf dist
	$(BIN)/python ci/release.py archives

bill: dist
	$(BIN)/python ci/release.py bill

clean:
	rm -rf $(VENV) build
