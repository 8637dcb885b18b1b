"""What other packages add, a corpus or a tokenizer: found by its place when it is asked for."""

from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any

BOOK = "https://github.com/transformer-walkthrough/transformer-walkthrough"


def load_plugin(place: str) -> Any:
    """Return what stands at `package.module:name`.

    Raises:
        ModuleNotFoundError: the package is not installed.
    """
    package = place.partition(".")[0]
    if find_spec(package) is None:
        raise ModuleNotFoundError(
            f"this needs the package {package}, which is not installed: pip install git+{BOOK}"
        )
    return resolve_name(place)
