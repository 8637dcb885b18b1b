"""The reader's trained model, looked at: `export` for the panel of 21, `see` in 00's pictures."""

from pathlib import Path
from typing import Any

import torch

from phrasebook.orthography import tokenize
from transformer.model import Transformer
from walkthrough.capstone import book, training
from walkthrough.capstone.checkup import check
from walkthrough.capstone.weights import skeleton_name
from walkthrough.ch00_one_sentence import own
from walkthrough.ch21_translate_in_your_browser import bundle, graphs, translator


class CannotExportError(ValueError):
    """The model is not the book's in other words, or its weights do not fit; says why."""


@torch.no_grad()
def as_package_model(file: Any, weights: str | Path) -> Transformer:
    """Return the package's model with the reader's trained weights, once both agree.

    Raises:
        NoModelError: the file is not there, or is no Python.
        CannotExportError: the walk through Figure 1 shows a difference, or the weights do not fit.
    """
    path = Path(weights)
    if not path.is_file():
        raise CannotExportError(f"{path} is not there: `train` writes a file's trained weights")
    result = check(file, doctor=False)
    model, subject, placing, walk = result.model, result.subject, result.placing, result.walk
    if model is None or subject is None or placing is None or walk is None or not walk.agrees:
        said = [*result.said[:1], *([] if walk is None else [str(walk)])]
        raise CannotExportError(
            f"with the book's weights ({_sizes()}) the model does not give the book's numbers, so "
            "another model than yours would be shown. `check` says where they part.\n"
            + "\n".join(said or ["No model stands in the file yet."])
        )
    try:
        training.load_weights(model, path)
    except ValueError as error:
        raise CannotExportError(f"{error}. The book's sizes: {_sizes()}") from error
    logits = subject.logits(*book.batch())
    ours = Transformer(book.config()).eval()
    state = placing.taken_out(model, book.state())
    ours.load_state_dict({name: state[skeleton_name(name)] for name in ours.state_dict()})
    gap = float((ours(*book.batch()) - logits)[book.words(1)].abs().max())
    if not gap <= 1e-3:
        raise CannotExportError(f"with its own weights the model differs by {gap:.3g}")
    return ours


def _sizes() -> str:
    c = book.config()
    return f"{c.n_layers} layers, {c.n_heads} heads, d_model {c.d_model}, {c.vocab_size} words"


def export(file: Any, weights: str | Path, out: str | Path, *, say: Any = print) -> Path:
    """Write the one file that the panel opens: graphs, the reader's weights, words.

    Raises:
        NoModelError, CannotExportError: as `as_package_model`.
        FileExistsError: `out` is there already.
    """
    path = Path(out)
    if path.exists():
        raise FileExistsError(f"{path} is there already, and is left as it is")
    say("your model beside the book's")
    contents = graphs.model_contents(as_package_model(file, weights), book.translator()[1])
    say("your weights in the panel's graphs")
    texts = [t for name, part in contents.items() for t in bundle.scripts(name, part).values()]
    path.write_text("".join(texts), encoding="ascii")
    return path


def see(
    file: Any = "my_transformer.py",
    sentence: str = book.SENTENCE,
    *,
    weights: str | Path | None = None,
    out: str | Path | None = None,
) -> own.Pictures:
    """Return chapter 00's pictures of the reader's model and sentence; `out` writes them as a page.

    The weights are those that `train` wrote beside the file, unless named.

    Raises:
        NoModelError, CannotExportError: as `as_package_model`.
        ValueError: a word that the model does not read, or a sentence that is too long.
        FileExistsError: `out` is another file than such a page.
    """
    page = None if out is None else Path(out)
    if page and page.exists() and own.MARK not in page.read_text("utf-8", errors="replace"):
        raise FileExistsError(f"{page} is there already, and is left as it is")
    codec = book.translator()[1]
    codec.encode(sentence)  # of a word without a number it says which are near
    french = translator.french_words(codec)
    if odd := [word for word in tokenize(sentence, "fr") if word not in french]:
        raise ValueError(f"no French sentence that the model learnt from has {odd[0]!r} in it")
    beside = file if isinstance(file, (str, Path)) else "my_transformer.py"
    path = Path(weights or Path(beside).with_suffix(".safetensors"))
    model = as_package_model(file, path)
    of = f"Drawn from {path.name}: {model.n_parameters:,} numbers of your training."
    found = own.pictures(model, codec, sentence, of=of, said=training.story(path))
    if page:
        page.write_text(found.page(), encoding="utf-8")
    return found
