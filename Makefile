# The developer's own commands; CI calls the same ones.
#   make run [BOOK=path BOOK_ID=name]   ingest a book, start the API, ask it one question
#   make test                           all tests
#   make lint                           ruff, mypy, and whether the lock is pinned and hashed
#   make audit                          known vulnerabilities of the locked versions (network)
#   make bench [CORPORA=path]           speeds, next to other libraries, in one run and one report
#   make bench-ingest                   of these, the ingest alone (about ten minutes)
#   make bench-chunking                 of these, the chunkers
#   make bench-asking                   of these, what asking adds to embedder and index
#   make bench-api                      of these, search over HTTP next to the bare chain
#   make bench-peers                    ingest next to LangChain, LlamaIndex and CocoIndex
#   make bench-library                  search in 1,000 to 100,000 chunks
#   make types                          write api/web/types.d.ts anew from the OpenAPI (needs npm)
#   make lock                           write requirements.lock anew
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := run

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV_VERSION := 0.13.8
BOOK ?=
BOOK_ID ?= $(if $(BOOK),$(notdir $(abspath $(BOOK))))
PORT ?= 8000
QUESTION ?= $(if $(BOOK),What is this book about?,Why does a subscriber with default settings hear nothing from a laser driver?)
SERVED = $(if $(BOOK_ID),--book-id $(BOOK_ID))

CORPORA ?= $(firstword $(wildcard ../shared/corpora) data/books)
PEERS := langchain-text-splitters==1.1.3 semantic-text-splitter==0.33.1 chonkie==1.7.0

.PHONY: run test browser lint audit format lock types setup clean
.PHONY: bench bench-chunking bench-ingest bench-asking bench-api bench-peers bench-library

setup: $(VENV)/.ready

# One stamp for environment and dependencies: quick when neither the lock nor the project changed.
# uv installs the lock in seconds; where it cannot be had or cannot reach the index, pip does it.
$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "askbook needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V). Try: make PYTHON=python3.12" >&2; exit 2; }
	@echo "Setting up $(VENV) (once; about a minute)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION) 2>/dev/null \
	  && VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps --require-hashes --compile-bytecode -r requirements.lock 2>/dev/null \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . 2>/dev/null
	@touch $@

run: setup
	@$(BIN)/askbook ingest $(BOOK) $(SERVED)
	@$(BIN)/askbook serve --port $(PORT) $(SERVED) --ask "$(QUESTION)"

test: setup browser
	@$(BIN)/python -m pytest -n 2 --dist loadgroup

# The browser tests need a Chromium. Root gets Debian's; everybody else is told, loudly.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Debian's chromium for the browser tests"; \
	  apt() { DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -qq "$$@" >/dev/null 2>&1; }; \
	  apt install -y --no-install-recommends chromium \
	    || { apt update && apt install -y --no-install-recommends chromium; } || true; \
	fi; \
	command -v chromium chromium-browser google-chrome >/dev/null || printf '%s\n' \
	  "" "*** NO CHROMIUM: the tests in tests/browser will be SKIPPED." \
	  "*** Install it (Debian: apt-get install chromium) and run make test again." "" >&2

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python .ci/audit

# Needs a network: asks the public database of known vulnerabilities about every locked version.
audit: setup
	@$(BIN)/uvx pip-audit --requirement requirements.lock --disable-pip --require-hashes

# Peers are only needed here: they are put aside, not into the environment.
$(VENV)/peers: pyproject.toml | setup
	@rm -rf $@
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --target $@ $(PEERS) \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check --target $@ $(PEERS)

# One report of all of them: docs/benchmarks/report.md, .json and plots (about twenty minutes).
bench: $(VENV)/peers $(VENV)/bench-peers
	@ASKBOOK_HOME=data/runtime/benchmarks/asking $(BIN)/askbook ingest
	@ASKBOOK_HOME=data/runtime/benchmarks/asking $(BIN)/python -m evaluation.speed.report \
	  --corpora $(CORPORA) --chunkers $(VENV)/peers --peers $(VENV)/bench-peers/bin/python

bench-chunking: $(VENV)/peers
	@PYTHONPATH=$(VENV)/peers $(BIN)/python -m evaluation.speed.chunking $(CORPORA)

# The sample book is ingested aside.
bench-asking bench-api: export ASKBOOK_HOME = data/runtime/benchmarks/asking
bench-asking: setup
	@$(BIN)/askbook ingest
	@$(BIN)/python -m evaluation.speed.asking

bench-api: setup
	@$(BIN)/askbook ingest
	@$(BIN)/python -m evaluation.speed.api

bench-ingest: setup
	@$(BIN)/python -m evaluation.speed.ingest

# Other libraries in an environment of their own. Copied, not linked: one of them refuses links.
$(VENV)/bench-peers: evaluation/speed/peers/requirements.txt | setup
	@rm -rf $@ && $(PYTHON) -m venv $@
	@$(BIN)/uv pip install --quiet --link-mode copy --python $@/bin/python -r $<

bench-peers: $(VENV)/bench-peers
	@$(BIN)/python -m evaluation.speed.against --peers $(VENV)/bench-peers/bin/python

bench-library: setup
	@$(BIN)/python -m evaluation.speed.library --chunks 1000 10000 100000

TYPES := api/web/types.d.ts
types: setup
	@$(BIN)/python -m api.schema $(VENV)/openapi.json
	@npx --yes openapi-typescript@7.13.0 $(VENV)/openapi.json -o $(VENV)/types.d.ts >/dev/null
	@{ $(BIN)/python -m api.schema --stamp; cat $(VENV)/types.d.ts; } > $(TYPES)

format: setup
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock:
	@test -x $(BIN)/uv || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet uv==$(UV_VERSION); }
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	  --extra dev pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV)
