"""`export`: the reader's trained model as one file that the panel of chapter 21 opens (§6.1)."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from transformer.model import Transformer
from walkthrough.capstone import book, training
from walkthrough.capstone.checkup import check
from walkthrough.capstone.weights import skeleton_name


class CannotExportError(ValueError):
    """The model is not the book's in other words, or its weights do not fit; says why."""


@torch.no_grad()
def as_package_model(file: Any, weights: str | Path) -> Transformer:
    """Return the package's model with the reader's trained weights, once both agree.

    Raises:
        NoModelError: the file is not there, or is no Python.
        CannotExportError: the walk through Figure 1 shows a difference, or the weights do not fit.
    """
    result = check(file, doctor=False)
    if result.walk is None or not result.walk.agrees:
        raise CannotExportError(
            "the model's numbers are not the book's, so the panel would show another model. "
            f"`check` says where they part.\n{result.walk or ''}"
        )
    model, subject, placing = result.model, result.subject, result.placing
    assert model is not None
    assert subject is not None
    assert placing is not None
    try:
        training.load_weights(model, weights)
    except ValueError as error:
        raise CannotExportError(str(error)) from error
    logits = subject.logits(*book.batch())
    ours = Transformer(book.config()).eval()
    state = placing.taken_out(model, book.state())
    ours.load_state_dict({name: state[skeleton_name(name)] for name in ours.state_dict()})
    gap = float((ours(*book.batch()) - logits)[book.words(1)].abs().max())
    if not gap <= 1e-3:
        raise CannotExportError(f"with its own weights the model differs by {gap:.3g}")
    return ours


def export(file: Any, weights: str | Path, out: str | Path, *, say: Any = print) -> Path:
    """Write the one file that the panel opens: the bundle's scripts, without its runtime.

    Nearly all of its time is PyTorch's exporter, which traces each of four graphs anew.

    Raises:
        NoModelError, CannotExportError: as `as_package_model`.
        FileExistsError: `out` is there already.
        ImportError: onnx is not installed.
    """
    path = Path(out)
    if path.exists():
        raise FileExistsError(f"{path} is there already, and is left as it is")
    say("step 1 of 3: your model beside the book's")
    model = as_package_model(file, weights)
    for parameter in model.parameters():  # the panel holds 16 bits a number
        parameter.data = parameter.data.half().float()
    from walkthrough.ch21_translate_in_your_browser import bundle  # loads PyTorch's exporter

    say("step 2 of 3: four graphs, half a minute or more of processor time")
    with TemporaryDirectory() as folder:
        contents = bundle.model_contents(model, book.translator()[1], Path(folder))
    say("step 3 of 3: graphs, weights and words in one file")
    texts = [
        text
        for name, content in contents.items()
        for text in bundle.scripts(name, content).values()
    ]
    path.write_text("".join(texts), encoding="ascii")
    return path
