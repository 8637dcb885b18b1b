"""Is your Transformer right? An examination of somebody's encoder–decoder in PyTorch (§3).

    report = examine(model)                                   # takes two tensors of ids
    report = examine(model, pad=1)                            # its padding has another id
    report = examine(model, call=lambda source, target: model(source, target, masks(source)))
    report = examine(model, step=train_step)                  # opens loss, optimiser and rate
    print(report)                                             # or show it in a notebook

    python -m walkthrough.doctor FILE[:NAME] [--pad 0] [--json]
    python -m walkthrough.doctor --folder DIR --csv OUT

A report has four lists: `bugs`, `departures` from the paper, what is the `same` as the paper, and
what was `not_examined` and why. Each line is a `Finding` with its name, sentence, witness, section
of the paper, link into the book, and module. Nothing is trained, and nothing of the model is
changed: weights, buffers, modes, hooks, gradients and random numbers are as before.
"""

from collections.abc import Callable

import torch
from torch import nn

from walkthrough.doctor import behaviour, padding, positions, structure, weights
from walkthrough.doctor.calling import Call, CannotCallError, find_call
from walkthrough.doctor.examination import Examination, as_it_was, not_compiled
from walkthrough.doctor.report import WORDS, Finding, Report
from walkthrough.doctor.training import Step, with_step

__all__ = ["CannotCallError", "Finding", "Report", "examine"]

Probe = Callable[[Examination], bool | None]
PROBES: dict[str, Probe] = {
    "output": behaviour.output,
    "repeatable": behaviour.repeatable,
    "not a number": behaviour.not_a_number,
    "future": behaviour.future,
    "source": behaviour.source,
    "words": behaviour.words,
    "padding": padding.padding,
    "batch": behaviour.batch,
    "order": behaviour.order,
    "no_grad": behaviour.without_gradients,
    "no gradient": weights.no_gradient,
    "not registered": weights.not_registered,
    "one layer": weights.one_layer,
    "ties": weights.ties,
    "positions": positions.positions,
    "√d_model": positions.embedding_scale,
    "heads": structure.heads,
    "scale": structure.scale,
    "softmax": structure.softmax,
    "masks": structure.masks,
    "memory": structure.memory,
    "feed-forward": structure.feed_forward,
    "norm": structure.norms,
    "norm's place": structure.norm_place,
    "residual": structure.residual,
    "dropout": structure.dropout,
}
"""By the name of what it examines; what later ones ask of earlier ones is known by then.

A probe returns False where it could not look.
"""


def examine(
    model: nn.Module,
    pad: int | tuple[int, int] = 0,
    call: Call | None = None,
    step: Step | None = None,
) -> Report:
    """Examine somebody's encoder–decoder, and say what is seen, with a witness for each line (§3).

    `pad` is the id of padding, or a pair of them for source and target. `call` takes ids of shape
    (batch, source length) and (batch, target length) and returns logits; it is needed where the
    model wants more than two tensors of ids and the common masks do not fit. `step` takes the model
    and a batch, a pair of padded ids (source, target), and returns the loss, with or without an
    update. Trained or not makes no difference; small models are examined faster. Nothing is
    trained, and nothing of the model is changed.

    Raises:
        TypeError: the model is not a module of PyTorch, or a pad id is not a whole number.
        CannotCallError: no way to call the model was found; the message says what to write.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    pads = pad if isinstance(pad, tuple) else (pad, pad)
    if len(pads) != 2 or not all(type(number) is int for number in pads):
        raise TypeError(f"pad must be a whole number or a pair of them, got {pad!r}")
    model = getattr(model, "_orig_mod", model)  # what torch.compile was given
    report = Report(type(model).__name__)
    with as_it_was(model), not_compiled():
        model.eval()
        x = Examination(find_call(model, call, pads), report, not isinstance(pad, tuple))
        if x.subject.masks:
            x.unseen("inside.masks", said=x.subject.masks)
        if not bool(torch.isfinite(x.start).all()):
            x.bug("not a number.everywhere")
            return report
        try:
            x.follow()
        except Exception as error:  # whatever somebody's code raises under a dispatch mode
            x.unseen("inside.tape", error=f"{type(error).__name__}: {error}")
        if behaviour.not_both(x):
            return report
        _run(x, "first loss", behaviour.first_loss)
        x.shake()
        for name, probe in PROBES.items():
            _run(x, name, probe)
        _run(x, "labels", lambda x: with_step(x, step))
    return report


def _run(x: Examination, name: str, probe: Probe) -> None:
    try:
        looked_for = WORDS[name].get("looked_for")
        if probe(x) is not False and looked_for:
            x.report.looked_for.append(looked_for)
    except Exception as error:  # one probe must not end the examination
        x.unseen("inside.probe", error=f"{type(error).__name__}: {error} ({name})")
