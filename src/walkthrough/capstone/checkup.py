"""`check`: which stubs are written and right, what is next, and what the whole model does."""

import sys
from dataclasses import replace
from dis import get_instructions
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn

from transformer.config import EOS_ID
from walkthrough.capstone import book, judging, solution, start
from walkthrough.capstone.report import Part, Result
from walkthrough.capstone.stubs import HELPERS, PARTS
from walkthrough.capstone.walk import place, walk
from walkthrough.capstone.weights import CannotPlaceError, MissingError, mapping_to_fill_in
from walkthrough.checking import Verdict
from walkthrough.checking.running import NeverEnds, limited
from walkthrough.doctor import CannotCallError, examine
from walkthrough.doctor.calling import find_call
from walkthrough.doctor.loading import NoModelError, definitions

USES = {
    "MultiHeadAttention": {"scaled_dot_product_attention", "split_heads", "merge_heads"},
    "ResidualNorm": {"layer_norm"},
}
USES["EncoderLayer"] = {"MultiHeadAttention", "FeedForward", "ResidualNorm"}.union(*USES.values())
USES["DecoderLayer"] = USES["EncoderLayer"]
USES["Transformer"] = {*PARTS} - {"Transformer"}
SHARED = {"MultiHeadAttention", "FeedForward", "EncoderLayer", "DecoderLayer"}
"""Names that people use for theirs as well."""
NOTHING_YET = Verdict("nothing yet", "not written")
IDLE = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}
"""What `pass`, or a docstring alone, is made of."""


def check(file: Any = "my_transformer.py", *, doctor: bool = True) -> Result:
    """Check a reader's file, whatever is written of it: a path, a module, or `globals()` (§3).

    Its code is executed. With `doctor=False` the model is not examined at the end.

    Raises:
        NoModelError: the file is not there, or is no Python.
    """
    own, result = loaded(file)
    right: set[str] = set()
    stuck = False  # in a loop without an end: what calls it is not called
    for name in PARTS:
        part = Part(name, NOTHING_YET, unwritten=() if name in HELPERS else (name,))
        if name in own:
            part = _judged(own, name, ({*USES.get(name, ())} - right) & {*own}, stuck)
            if name == start.EMBEDDING and part.verdict.mistake == "start":
                part = replace(part, verdict=start.drawn_again(part.verdict, own.get(PARTS[-1])))
            part = replace(part, **_written(name, own[name]))
            if part.unwritten and part.verdict.mistake == "no return":
                part = replace(part, verdict=NOTHING_YET)
        result.parts[name] = part
        right |= {name} if part.verdict else set()
        stuck = stuck or "it had not returned after" in part.verdict.message
    if stuck:
        result.said.append("The whole model is not called: a part of it does not return.")
        return result
    try:
        with limited():
            _whole(own, result, doctor)
    except NeverEnds as error:
        result.said.append(f"The model was called, and {error}")
    except Exception as error:  # whatever a reader's code raises
        result.said.append(judging.stopped("The model", error))
    return result


def loaded(file: Any) -> tuple[dict[str, Any], Result]:
    """Return the names that a file defines, a module has, or a notebook hands over.

    Raises:
        NoModelError: the file is not there, or is no Python.
    """
    if isinstance(file, ModuleType):
        return vars(file), Result(file.__name__)
    if isinstance(file, dict):
        return file, Result("this notebook")
    path = Path(file)
    if not path.is_file():
        said = "is a folder: name the file in it" if path.is_dir() else "is not there"
        raise NoModelError(f"{path} {said}. `python -m walkthrough.capstone new` writes a skeleton")
    named = path.stem.replace("-", "_")
    held = sys.modules.get(named)  # a file may be called `transformer`, as our package is
    module, left = definitions(path)
    if held is not None:
        sys.modules[named] = held
    failed = [one for one in left if not one.endswith("not run")]
    return vars(module), Result(path.name, said=[f"Not executed: {one}" for one in failed[:3]])


def _written(name: str, made: Any) -> dict[str, Any]:
    """Return which functions of a part are not written, and whether the stub was touched."""
    own = {name: made}
    if isinstance(made, type):
        own = {f"{name}.{key}": value for key, value in vars(made).items()}
    codes = {key: code for key, value in own.items() if (code := getattr(value, "__code__", None))}
    stubs = [key for key, code in codes.items() if "NotImplementedError" in code.co_names]
    idle = [
        key for key, code in codes.items() if {x.opname for x in get_instructions(code)} <= IDLE
    ]
    empty = tuple(key for key in codes if key in (*stubs, *idle))
    whole = bool(empty) and len(empty) == len(codes)
    return {"unwritten": (name,) if whole else empty, "begun": len(stubs) < len(codes)}


def _judged(own: dict[str, Any], name: str, missing: set[str], stuck: bool) -> Part:
    """Judge a part: with right ones for what it uses and is not right, else as it stands."""
    if not missing:
        return Part(name, _verdict(own, name))
    held = {other: own[other] for other in missing}
    own.update({other: getattr(solution, other) for other in missing})
    try:
        alone = _verdict(own, name)
    finally:
        own.update(held)
    if alone:
        return Part(name, alone, tuple(n for n in PARTS if n in missing))
    as_it_stands = NOTHING_YET if stuck else _verdict(own, name)
    return Part(name, as_it_stands or alone)


def _verdict(own: dict[str, Any], name: str) -> Verdict:
    try:
        with limited(), torch.no_grad():
            return judging.judge(name, own[name], own.get("WEIGHTS"))
    except NeverEnds as error:
        return Verdict("wrong", f"`{name}` was called, and {error}", "never ends")


def _whole(own: dict[str, Any], result: Result, doctor: bool) -> None:
    """Place the weights, translate, walk, examine; what cannot be done is said."""
    mapping = own.get("WEIGHTS")
    model = _built(own)
    if model is None:
        return
    try:
        result.model, result.subject = model, find_call(model, None, (0, 0))
        result.placing, sure = place(model, result.subject, mapping)
    except (CannotCallError, CannotPlaceError) as error:
        if "NotImplementedError" in str(error):  # a stub that it needs is not written
            return
        if any(p.status == "wrong" or (p.begun and p.unwritten) for p in result.parts.values()):
            return  # the stub's line says it
        unplaced, lost = isinstance(error, CannotPlaceError), start.lost(model)
        said = lost or (error if unplaced else _not_called(model))
        result.said.append(f"The book's weights cannot be loaded into your model: {said}")
        if unplaced and not lost and not isinstance(error, MissingError):
            result.said.append(mapping_to_fill_in())
        return
    status = {name: part.status for name, part in result.parts.items()}
    result.walk = walk(model, result.subject, result.placing, sure, status)
    codec = book.translator()[1]
    source = [*codec.encode(book.SENTENCE), EOS_ID]
    result.translation = codec.decode(book.greedy(result.subject.logits, [source])[0])
    if doctor:
        result.doctor = examine(model)
        # the weights are the book's, and the loop is the business of `train`
        kept = [x for x in result.doctor.not_examined if x.name not in ("first loss", "labels")]
        result.doctor.not_examined[:] = kept


def _not_called(model: nn.Module) -> str:
    """Return why a model cannot be called with two tensors of ids."""
    try:
        model(*book.batch())
    except Exception as error:  # whatever a reader's code raises
        return judging.stopped("it", error)
    return "no logits come back, of shape (batch, target_len, vocab_size)"


def _built(own: dict[str, Any]) -> nn.Module | None:
    made = own.get("Transformer")
    if made is None and not {*PARTS[:-1]} & {*own} - SHARED:  # no file of the skeleton's
        classes = [v for v in own.values() if isinstance(v, type) and issubclass(v, nn.Module)]
        own_ones = (v for v in reversed(classes) if v.__module__ == own.get("__name__"))
        made = next(own_ones, None)
    try:
        return None if made is None else judging.built("Transformer", made)
    except Exception:  # judged and told above
        return None
