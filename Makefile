# For those who have make. Every target is `python -m tools TARGET`, which needs Python 3.11 or
# newer and git, and brings everything else into .venv and book/web.

PYTHON ?= python3
TARGETS := book notebooks test lighthouse serve pdf lab results lock format clean

.DEFAULT_GOAL := help
.PHONY: help $(TARGETS)

help:
	@$(PYTHON) -m tools

# make book REQUIREMENTS=… CHAPTERS="02 03" · make serve PORT=… · make results ARGS="--jobs 2"
$(TARGETS):
	@$(PYTHON) -m tools $@ $(if $(REQUIREMENTS),--requirements $(REQUIREMENTS)) $(if $(PORT),--port $(PORT)) $(if $(CHAPTERS),--chapters "$(CHAPTERS)") $(ARGS)
