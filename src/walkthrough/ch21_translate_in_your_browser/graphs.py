"""The panel's graphs as they ship, and the weights of any model of their sizes in them (§6.1).

To trace a model takes half a minute of processor time, and gives the same four graphs for all
models of one size: they say where in the file of weights a matrix stands, and not what is in it. So
the graphs of the page's model are kept, with the order of that file.
"""

import io
import json
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from phrasebook.codec import PhrasebookCodec
from transformer.model import Transformer
from walkthrough.ch21_translate_in_your_browser import bundle
from walkthrough.page.results import FOLDER

ARCHIVE = FOLDER / "phrasebook-graphs.tar.xz"
"""Made by `python -m tools.book.weights graphs`."""
ORDER = "order.json"


def write(model: Transformer, path: Path = ARCHIVE) -> None:
    """Trace a model whose weights are 16-bit numbers, and keep its graphs and their weights' order.

    Raises:
        ValueError: the file of weights holds something that is none of the model's matrices.
    """
    with TemporaryDirectory() as folder:
        graphs, weights = bundle.share_weights(bundle.export_graphs(model, Path(folder)))
    left = {name: tensor.detach() for name, tensor in model.named_parameters()}
    order, rest = [], torch.from_numpy(weights).float()
    while len(rest):
        ways = ((name, turned) for name in left for turned in (False, True))
        for name, turned in ways:
            values = (left[name].mT if turned and left[name].ndim == 2 else left[name]).flatten()
            if torch.equal(rest[: len(values)], values):
                break
        else:
            raise ValueError(f"the last {len(rest)} numbers of the weights begin with no matrix")
        order.append([name, turned, list(left.pop(name).shape)])
        rest = rest[len(values) :]
    files = {f"{name}.onnx": content for name, content in graphs.items()}
    with tarfile.open(path, "w:xz") as archive:
        for name, content in (files | {ORDER: json.dumps(order).encode()}).items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def model_contents(model: Transformer, codec: PhrasebookCodec) -> dict[str, bytes]:
    """Return what `bundle.model_contents` does, without tracing; weights are rounded to 16 bits.

    Raises:
        ValueError: the model has other parts or sizes than the graphs.
    """
    with tarfile.open(ARCHIVE, "r:xz") as archive:
        contents = {file.name: archive.extractfile(file).read() for file in archive}  # type: ignore[union-attr]
    order = json.loads(contents.pop(ORDER))
    own = {name: list(tensor.shape) for name, tensor in model.named_parameters()}
    wanted = {name: shape for name, _, shape in order}
    if own != wanted:
        odd = next((name for name in wanted if own.get(name, wanted[name]) != wanted[name]), "")
        here, there = (
            f"{odd} of {one[odd]}" if odd else f"{len(one)} tensors" for one in (wanted, own)
        )
        raise ValueError(f"the panel's graphs are made for {here}; this model has {there}")
    state = {name: tensor.detach().half() for name, tensor in model.named_parameters()}
    parts = [(state[name].mT if turned else state[name]).flatten() for name, turned, _ in order]
    contents["weights.f16"] = torch.cat(parts).numpy().astype("<f2").tobytes()
    contents["words.json"] = bundle.words_file(codec, model)
    return contents
