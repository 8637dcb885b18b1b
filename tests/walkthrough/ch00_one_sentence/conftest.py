"""The translator that ships, and its journey through the chapter's sentence."""

import pytest

from walkthrough.ch00_one_sentence import journey
from walkthrough.lab.half_trained import load_translator
from walkthrough.page.results import FOLDER


@pytest.fixture(scope="session")
def translator():
    return load_translator(FOLDER / "phrasebook-translator.safetensors")


@pytest.fixture(scope="session")
def jane(translator):
    return journey.travel(*translator)
