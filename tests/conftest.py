"""Every test runs with the shapes in our signatures enforced and one torch thread.

Of a sequence of tensors, beartype looks at one a call, drawn at random (its own way, to stay fast).
The phrasebook with its trees and the doctor have no shapes, and would take fourteen and four times
as long. No test of a law has a deadline: others run beside it.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings
from jaxtyping import config, install_import_hook


def parts(package: Path, without: str) -> list[str]:
    """Return the names of what a package holds, but for one part."""
    return [f"{package.name}.{path.stem}" for path in package.iterdir() if path.stem != without]


TRANSFORMER, WALKTHROUGH = (
    Path(find_spec(name).origin).parent for name in ("transformer", "walkthrough")
)
CHECKED = [
    *parts(WALKTHROUGH, without="doctor"),
    *parts(TRANSFORMER, without="parsing"),
    *(f"transformer.{name}" for name in parts(TRANSFORMER / "parsing", without="trees")),
]
install_import_hook(CHECKED, "beartype.beartype")
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
