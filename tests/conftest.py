"""Every test runs with the shapes in our signatures enforced and one torch thread.

No test of a law has a deadline: others run beside it.
"""

import os
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings
from jaxtyping import config, install_import_hook

install_import_hook(["transformer", "walkthrough"], "beartype.beartype")
torch.set_num_threads(1)
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")


TRANSLATOR = Path(__file__).parents[1] / "book" / "web" / "vendor" / "live" / "manifest.js"


@pytest.fixture(scope="session")
def live_translator() -> None:
    """What a click of chapter 21 loads is there; a user without it skips the test, CI fails."""
    if not TRANSLATOR.exists():
        line = f"{TRANSLATOR.parent} is empty: `make book` packs the translator"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(line, pytrace=False)
        pytest.skip(line)


@pytest.fixture
def as_users_run_it():
    """Switch the enforced shapes off, so that the package's own errors are what is tested."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)
