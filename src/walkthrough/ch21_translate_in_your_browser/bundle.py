"""What travels to the browser: graphs, one file of weights, words, and the runtime (§6.1).

A page that is opened as a file may load scripts and fetch nothing. So everything is a classic
script that hands over one text: bytes, gzipped, as base64. The graphs of `transformer.export` and
of the laboratory hold the same matrices; here each is stored once, as 16-bit numbers, which is what
the record holds, and the graphs say where it stands in the widened file.
"""

import base64
import gzip
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phrasebook import orthography, phrasebook
from phrasebook.codec import PhrasebookCodec
from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from transformer.inference.greedy import EXTRA_TOKENS
from transformer.model import Transformer
from walkthrough.ch21_translate_in_your_browser.translator import (
    EXAMPLES,
    french_words,
    words_by_kind,
)

WEIGHTS_FILE = "weights.bin"
MAX_POSITIONS = 128
"""Rows of the position tables; a source and what it may become fit into them."""
MAX_SOURCE = 60
PART = 600_000
"""Characters of one script at most."""
UNSEEN = ("test_sentences", "test_combinations")
"""Splits from which the page draws sentences that no training saw, with their references."""
LEAST_SHARED = 64
"""Numbers that a tensor must hold to move out of its graph."""


def export_graphs(model: Transformer, folder: Path) -> dict[str, bytes]:
    """Write the four graphs into `folder` and return them by name."""
    from transformer.export import export_onnx  # heavy, as PyTorch's exporter is
    from walkthrough.ch21_translate_in_your_browser.laboratory import export_laboratory

    paths = [
        *export_onnx(model, folder, max_positions=MAX_POSITIONS),
        *export_laboratory(model, folder, max_positions=MAX_POSITIONS),
    ]
    return {path.stem: path.read_bytes() for path in paths}


def share_weights(
    graphs: Mapping[str, bytes],
) -> tuple[dict[str, bytes], NDArray[np.float16]]:
    """Return the graphs without their matrices, and one array that holds each matrix once.

    A graph names a place in the array's 32-bit form. Tensors that 16 bits do not hold exactly, and
    small ones, stay where they are.
    """
    import onnx  # heavy, and only the build and one test need it
    from onnx import external_data_helper, numpy_helper

    places: dict[bytes, int] = {}
    parts: list[NDArray[np.float16]] = []
    n_numbers = 0
    light = {}
    for name, content in graphs.items():
        graph = onnx.load_model_from_string(content)
        for tensor in graph.graph.initializer:
            value = numpy_helper.to_array(tensor)
            if value.dtype != np.float32 or value.size < LEAST_SHARED:
                continue
            half = value.astype(np.float16)
            if not np.array_equal(half.astype(np.float32), value):
                continue
            key = value.tobytes()
            if key not in places:
                places[key] = n_numbers
                parts.append(half.reshape(-1))
                n_numbers += value.size
            tensor.ClearField("float_data")
            tensor.raw_data = key  # the helper wants it there, and the next line empties it
            external_data_helper.set_external_data(
                tensor, WEIGHTS_FILE, offset=4 * places[key], length=4 * value.size
            )
            tensor.ClearField("raw_data")
        for node in graph.graph.node:  # the exporter notes there which line of Python it is from
            node.ClearField("metadata_props")
            node.ClearField("doc_string")
        light[name] = graph.SerializeToString(deterministic=True)
    return light, np.concatenate(parts) if parts else np.empty(0, np.float16)


def widened(weights: NDArray[np.float16]) -> bytes:
    """Return the file that the graphs point into, as the browser makes it on arrival."""
    return weights.astype("<f4").tobytes()


def words(codec: PhrasebookCodec, model: Transformer) -> dict[str, Any]:
    """Return what the page needs besides numbers: words, spelling, sizes, special ids."""
    config, splits = model.config, phrasebook().splits()
    return {
        "tokens": codec.vocabulary.to_list(),
        "french": french_words(codec),
        "proper": orthography.proper_words("fr"),
        "kinds": words_by_kind(codec),
        "examples": list(EXAMPLES),
        "unseen": {
            kind: [[one.source_text, one.target_text] for one in splits[kind]] for kind in UNSEEN
        },
        "special": {"pad": PAD_ID, "start": BOS_ID, "end": EOS_ID, "unknown": UNK_ID},
        "extraTokens": EXTRA_TOKENS,
        "maxSource": MAX_SOURCE,
        "sizes": {
            "layers": config.n_layers,
            "heads": config.n_heads,
            "dK": config.d_k,
            "dV": config.d_v,
            "dModel": config.d_model,
        },
    }


def words_file(codec: PhrasebookCodec, model: Transformer) -> bytes:
    """Return `words` as the page reads them."""
    return json.dumps(words(codec, model), ensure_ascii=False).encode()


def scripts(name: str, content: bytes) -> dict[str, str]:
    """Return classic scripts, by file name, that hand `content` to the page in parts.

    Parts, because a page cannot see how far a script has come, only which ones are there.
    """
    packed = base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()
    parts = [packed[start : start + PART] for start in range(0, len(packed), PART)]
    return {
        f"{name}.{number}.js": f'live.receive("{name}", {number}, {len(parts)}, "{part}");\n'
        for number, part in enumerate(parts)
    }


def model_contents(model: Transformer, codec: PhrasebookCodec, folder: Path) -> dict[str, bytes]:
    """Return what belongs to a model, by name: graphs, weights, words. `folder` is used and left.

    All of its weights are 16-bit numbers, widened.
    """
    graphs, weights = share_weights(export_graphs(model, folder))
    for path in folder.glob("*.onnx"):
        path.unlink()
    contents = {f"{name}.onnx": content for name, content in graphs.items()}
    contents["weights.f16"] = weights.astype("<f2").tobytes()
    contents["words.json"] = words_file(codec, model)
    return contents


def write_bundle(
    model: Transformer,
    codec: PhrasebookCodec,
    folder: Path,
    *,
    runtime: Mapping[str, Path],
    others: Sequence[Path],
) -> dict[str, int]:
    """Write every script of the bundle into `folder`; return the bytes of each by file name.

    `runtime` are onnxruntime's own files by name, packed like the weights. `others` stand
    elsewhere in the site and are counted with the bundle, because the click loads them too.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    contents = model_contents(model, codec, folder)
    contents |= {name: path.read_bytes() for name, path in runtime.items()}
    files: dict[str, str] = {}
    for name, content in contents.items():
        files |= scripts(name, content)
    for file, text in files.items():
        (folder / file).write_text(text, encoding="ascii")
    sizes = {file: len(text) for file, text in files.items()}
    total = sum(sizes.values()) + sum(path.stat().st_size for path in others)
    manifest = json.dumps({"files": sizes, "total": total})
    (folder / "manifest.js").write_text(f"live.manifest = {manifest};\n", encoding="ascii")
    return sizes
