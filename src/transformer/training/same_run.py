"""Whether a run is the one in the folder: its settings, and the sentence pairs by a checksum."""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from transformer.data.batching import Pair, PairArrays

FREE_TO_CHANGE = {
    "threads", "compile", "log_every", "valid_every", "save_every", "keep", "patience"
}  # fmt: skip
"""Settings that a resumed run may change: they do not touch the parameters."""


_OF = {"pairs": " of the training pairs", "valid": " of the validation pairs"}
_WHY = {"max_updates": "; a linear schedule ends there, so every rate depends on it"}


def counted(pairs: Sequence[Pair]) -> dict[str, int]:
    """Return what tells sentence pairs from others: their number and their checksum."""
    return {"number": len(pairs), "checksum": checksum(pairs)}


def checksum(pairs: Sequence[Pair]) -> int:
    """CRC-32 over all ids, so that a run is not resumed on other sentences."""
    value = 0
    arrays = pairs if isinstance(pairs, PairArrays) else PairArrays(pairs)
    for row in arrays.rows():
        value = zlib.crc32(row.data, value)
    return value


def differences(
    found: Mapping[str, Mapping[str, Any]], wanted: Mapping[str, Mapping[str, Any]], schedule: str
) -> list[str]:
    """Return what a resumed run may not change and does, with the value found and the one wanted.

    The parts are "model" and "training", settings, and "pairs" and "valid", as `counted`.
    """
    free = FREE_TO_CHANGE if schedule == "linear" else FREE_TO_CHANGE | {"max_updates"}
    return [
        f"{name}{_OF.get(part, '')} ({found[part].get(name)!r} in the folder, "
        f"{wanted[part].get(name)!r} now{_WHY.get(name, '')})"
        for part in wanted
        for name in dict.fromkeys([*wanted[part], *found[part]])
        if found[part].get(name) != wanted[part].get(name) and name not in free
    ]
