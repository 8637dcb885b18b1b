"""The check of chapter 15 on search errors and model errors (§6.1)."""

import torch

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments


def _kind(output: str, reference: str, score: float, reference_score: float) -> str:
    if output == reference:
        return "none"
    return "search" if score < reference_score else "model"


def _texts(
    label: str,
    output: str,
    reference: str,
    score: float,
    reference_score: float,
    special: str = "",
) -> Case:
    def make(_generator: torch.Generator) -> Arguments:
        # two texts of their own, though they may be equal: `is` must not do
        return arguments("".join(list(output)), "".join(list(reference)), score, reference_score)

    return Case(label, make, special)


_REFERENCE = "Jane sleeps"
_GAP = "A gap of 0.05 between the scores decides as a large one does."

kind_of_error = Check(
    name="whose error it is",
    reference=_kind,
    cases=[
        _texts("an output equal to the reference", "Jane sleeps", _REFERENCE, -1.0, -1.0),
        _texts("a wrong output with a lower score", "Jane sleep", _REFERENCE, -3.0, -1.0),
        _texts("a wrong output with a higher score", "Jane", _REFERENCE, -0.6, -1.0),
        _texts("a wrong output as long as the reference", "Jane sleept", _REFERENCE, -2.0, -1.0),
        _texts("the reference's words in another order", "sleeps Jane", _REFERENCE, -0.8, -1.0),
        _texts("the reference without its capital letter", "jane sleeps", _REFERENCE, -2.0, -1.0),
        _texts("the reference and a word more", "Jane sleeps well", _REFERENCE, -0.6, -1.0),
        _texts("the reference and a full stop", "Jane sleeps.", _REFERENCE, -2.5, -1.0),
        _texts("a word said twice", "Jane Jane sleeps", _REFERENCE, -0.7, -1.0),
        _texts(
            "the reference with a space behind it",
            "Jane sleeps ",
            _REFERENCE,
            -2.0,
            -1.0,
            "The two texts differ by a space: `strip` and `split` lose it, `==` does not.",
        ),
        _texts("a gap of 0.05", "Jane slept", _REFERENCE, -1.05, -1.0, _GAP),
        _texts("a gap of 0.05, the other way", "Jane slept", _REFERENCE, -1.0, -1.05, _GAP),
        _texts(
            "scores near −900",
            "Jane slept",
            _REFERENCE,
            -905.0,
            -900.0,
            "Probabilities this small are 0 as floats: compare log P itself.",
        ),
        _texts("a right output, scored a little higher", "Jane sleeps", _REFERENCE, -0.99999, -1.0),
        _texts("a right output, scored in two ways", "Jane sleeps", _REFERENCE, -1.0, -0.99999),
        _texts("a wrong output, scored nearly alike", "Jane slept", _REFERENCE, -1.0, -1.00003),
    ],
    mistakes=[
        Mistake(
            "equal scores taken for right",
            lambda o, r, s, q: "none" if s == q else ("search" if s < q else "model"),
            "you compare the scores to find out whether the output is right. The two scores of "
            "one text may differ in their last digits: compare the texts.",
        ),
        Mistake(
            "the other way round",
            lambda o, r, s, q: "none" if o == r else ("model" if s < q else "search"),
            "search and model are exchanged. If the reference scores higher, the model preferred "
            "it and the search did not find it: the error is the search's. (Scores are log P: the "
            "higher one is nearer to 0.)",
        ),
        Mistake(
            "a right output blamed",
            lambda o, r, s, q: "search" if s < q else "model",
            "an output equal to the reference is no error; your function blames the model or the "
            "search for it. (Two equal texts need not be one object: compare with `==`, not `is`.)",
        ),
        Mistake(
            "all blamed on the model",
            lambda o, r, s, q: "none" if o == r else "model",
            "every wrong output is the model's error in your function. Compare the two scores.",
        ),
    ],
)
