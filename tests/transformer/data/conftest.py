"""Where the real corpus is, if this machine has a copy: it may not be part of the repository."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def multi30k_copy():
    repository = Path(__file__).parents[3]
    beside = repository.parent / "shared" / "data" / "multi30k"
    folder = Path(os.environ.get("TRANSFORMER_MULTI30K", beside))
    if not (folder / "data" / "task1").is_dir():
        pytest.skip(f"no copy of Multi30k in {folder}: let TRANSFORMER_MULTI30K name one")
    return folder
