"""Which decoding of a run is the one to report: the validation split says it (§6.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

Result = Mapping[str, Any]
VALIDATION = "val"


def best_on_validation(results: Sequence[Result]) -> Result | None:
    """Return the result with the highest BLEU on the validation split; None without one there."""
    tried = [result for result in results if result["split"] == VALIDATION]
    return max(tried, key=lambda result: result["bleu"], default=None)
