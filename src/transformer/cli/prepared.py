"""What a run makes of its corpus once: its tokenizer and all ids, in a file beside it.

Other processes on the same disk, and the run when it goes on, map that file into their memory. It
says what it was made of: of a corpus that is another one by now, all is made anew.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer.data.batching import PairArrays
from transformer.training.checkpoint import map_arrays, write_arrays

PAIRS = "pairs.safetensors"

_SIDES = ("source", "target")


@dataclass(frozen=True)
class Prepared:
    """The tokenizer as text, the pairs to train on, or how each epoch spells them, and to validate.

    The file, whose checksum is here, lacks pairs that are spelled anew.
    """

    tokenizer: str
    number: int
    pairs: Any  # `Pairs`; None where they have to be made yet
    valid: PairArrays | None
    checksum: str = ""

    @property
    def mark(self) -> tuple[str, str]:
        """What other processes need from the first."""
        return self.tokenizer, self.checksum


def keep(folder: str | Path, prepared: Prepared, origin: Mapping[str, Any]) -> Prepared:
    """Write the file, and return what was prepared as it is mapped from there."""
    arrays = {
        f"{split}.{side}.{part}": array
        for split, pairs in (("train", prepared.pairs), ("valid", prepared.valid))
        if isinstance(pairs, PairArrays)
        for side, flat in zip(_SIDES, pairs.flat, strict=True)
        for part, array in zip(("ids", "ends"), flat, strict=True)
    }
    metadata = {"tokenizer": prepared.tokenizer, "origin": json.dumps(origin)}
    write_arrays(Path(folder) / PAIRS, arrays, metadata)
    stored = kept(folder, origin)
    return prepared if stored is None or stored.pairs is None else stored


def kept(
    folder: str | Path, origin: Mapping[str, Any], *, checksum: str | None = None
) -> Prepared | None:
    """Return what the file holds; None if it was made of something else, or is not whole.

    With `checksum`, it must be that very file.
    """
    try:
        arrays, metadata = map_arrays(Path(folder) / PAIRS)
        is_it = json.loads(metadata["origin"]) == origin
    except (OSError, ValueError, KeyError):
        return None
    if not is_it or checksum not in (None, metadata["checksum"]):
        return None
    pairs = {
        split: PairArrays.from_flat(
            *((arrays[f"{split}.{s}.ids"], arrays[f"{split}.{s}.ends"]) for s in _SIDES)
        )
        for split in ("train", "valid")
        if f"{split}.source.ids" in arrays
    }
    train, valid = pairs.get("train"), pairs.get("valid")
    return Prepared(metadata["tokenizer"], len(train or ()), train, valid, metadata["checksum"])
