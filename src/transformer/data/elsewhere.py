"""What other packages bring along, as a corpus or a tokenizer: found by its name when needed."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

BOOK = "https://github.com/transformer-walkthrough/transformer-walkthrough"


def brought(place: str) -> Any:
    """Return what stands at `package.module:name`.

    Raises:
        ModuleNotFoundError: the package is not installed.
    """
    module, _, name = place.partition(":")
    package = module.partition(".")[0]
    if find_spec(package) is None:
        raise ModuleNotFoundError(
            f"this needs the package {package}, which is not installed: pip install git+{BOOK}"
        )
    return getattr(import_module(module), name)
