"""The checks of chapter 23: two probes, and a file to mend with the doctor's help."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.ch23_is_yours_right.slips import FIVE, build, text_of
from walkthrough.checking import Check, Mistake, OwnCheck, Verdict, fixed
from walkthrough.checking.kinds import kind
from walkthrough.doctor import examine

Model = Callable[[Tensor, Tensor], Tensor]
SOURCE = torch.tensor([[5, 6, 7, 8], [9, 5, 4, 6], [7, 7, 8, 4]])
TARGET = torch.tensor([[4, 9, 6], [8, 8, 7], [6, 9, 9]])


class Reader:
    """A stand-in for a model: what it makes of the source is added to each target word's logits.

    A word counts by its id and one, with `places` times its place; padding counts `of_padding`.
    `rows` and `columns` say in which sentences and predictions the source is heard, `others` how
    much the rest of the batch is.
    """

    def __init__(
        self,
        name: str,
        *,
        of_padding: float = 0.0,
        pad: int = 0,
        places: bool = False,
        rows: tuple[float, ...] = (1.0, 1.0, 1.0),
        columns: tuple[float, ...] = (1.0, 1.0, 1.0),
        others: float = 0.0,
    ) -> None:
        self.name, self.of_padding, self.pad, self.places = name, of_padding, pad, places
        self.rows, self.columns, self.others = torch.tensor(rows), torch.tensor(columns), others

    def __repr__(self) -> str:
        return self.name

    def __call__(self, source: Tensor, target: Tensor) -> Tensor:
        """Return logits of shape (batch, target_len, 4)."""
        place = torch.arange(1, source.shape[1] + 1) if self.places else 1
        heard = torch.where(
            source == self.pad, self.of_padding, ((source + 1) * place).float()
        ).sum(1)
        company = self.others * (heard + target.sum(1)).sum()
        said = (self.rows[: len(source)] * (heard + company))[:, None] * self.columns
        return torch.arange(1, 5) * (said + target)[..., None]


def _change(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


# Exercise: a probe for padding -------------------------------------------------------------------


def _padding(model: Model, source: Tensor, target: Tensor, pad: int) -> float:
    longer = F.pad(source, (0, 3), value=pad)
    return _change(model(longer, target), model(source, target))


def _ends_padded(model: Model, source: Tensor, target: Tensor, pad: int) -> float:
    padded = source.clone()
    padded[:, -3:] = pad
    return _change(model(padded, target), model(source, target))


def _put(
    model: Model, source: Tensor, target: Tensor, *, sides: tuple[int, int], value: int
) -> Tensor:
    return model(F.pad(source, sides, value=value), target) - model(source, target)


moved_by_padding = Check(
    name="moved_by_padding",
    reference=_padding,
    cases=[
        fixed("a model that ignores padding", Reader("careful", places=True), SOURCE, TARGET, 0),
        fixed("a model that reads it", Reader("reads it", of_padding=2.0), SOURCE, TARGET, 0),
        fixed(
            "a model in which it lowers all logits",
            Reader("lowers", of_padding=-1.5),
            SOURCE,
            TARGET,
            0,
        ),
        fixed(
            "a model that reads it in the last sentence, in the first prediction",
            Reader("once", of_padding=0.5, rows=(0.0, 0.0, 1.0), columns=(1.0, 0.0, 0.0)),
            SOURCE,
            TARGET,
            0,
        ),
        fixed(
            "a model whose padding is 1, and which ignores it",
            Reader("padding is 1", pad=1, places=True),
            SOURCE,
            TARGET,
            1,
        ),
    ],
    mistakes=[
        Mistake(
            "in front",
            lambda m, s, t, pad: float(_put(m, s, t, sides=(3, 0), value=pad).abs().max()),
            "you put the padding in front of the words. That moves their positions, and a model "
            "may read these: put it behind.",
        ),
        Mistake(
            "over words",
            _ends_padded,
            "you write padding over the last three words, so that three words are missing. Put it "
            "behind them.",
        ),
        Mistake(
            "no absolute value",
            lambda m, s, t, pad: float(_put(m, s, t, sides=(0, 3), value=pad).max()),
            "a logit that falls has moved as well: take the absolute value first.",
        ),
        Mistake(
            "the mean",
            lambda m, s, t, pad: float(_put(m, s, t, sides=(0, 3), value=pad).abs().mean()),
            "you take the mean, in which one prediction that moves drowns. A leak is the largest "
            "change.",
        ),
        Mistake(
            "zeros",
            lambda m, s, t, pad: float(_put(m, s, t, sides=(0, 3), value=0).abs().max()),
            "you put zeros behind the sentence, whatever the id of padding is: use `pad`.",
        ),
    ],
)

# Exercise: a probe for the batch -----------------------------------------------------------------


def _copies(ids: Tensor) -> Tensor:
    return ids[:1].expand_as(ids).contiguous()


def _company(model: Model, source: Tensor, target: Tensor) -> float:
    return _change(model(_copies(source), _copies(target))[0], model(source, target)[0])


moved_by_company = Check(
    name="moved_by_company",
    reference=_company,
    cases=[
        fixed("a model without such a bug", Reader("apart", places=True), SOURCE, TARGET),
        fixed("a model that adds up the batch", Reader("sums", others=0.5), SOURCE, TARGET),
        fixed(
            "a model in which company lowers all logits",
            Reader("lowers", others=-0.25),
            SOURCE,
            TARGET,
        ),
        fixed(
            "a model that looks round in the last prediction only",
            Reader("last", others=0.5, columns=(0.0, 0.0, 1.0)),
            SOURCE,
            TARGET,
        ),
        fixed("two sentences", Reader("two", others=2.0), SOURCE[:2], TARGET[:2]),
    ],
    mistakes=[
        Mistake(
            "all sentences",
            lambda m, s, t: _change(m(_copies(s), _copies(t)), m(s, t)),
            "you compare all sentences. The others have other words now, so they must move: look "
            "at the first.",
        ),
        Mistake(
            "sources only",
            lambda m, s, t: _change(m(_copies(s), t)[0], m(s, t)[0]),
            "you replace the sources and leave the targets: a decoder has company too.",
        ),
        Mistake(
            "alone",
            lambda m, s, t: _change(m(s[:1], t[:1])[0], m(s, t)[0]),
            "you take the company away. The exercise replaces it, since some models want a batch.",
        ),
        Mistake(
            "no absolute value",
            lambda m, s, t: float((m(_copies(s), _copies(t)) - m(s, t))[0].max()),
            "a logit that falls has moved as well: take the absolute value first.",
        ),
        Mistake(
            "the mean",
            lambda m, s, t: float((m(_copies(s), _copies(t)) - m(s, t))[0].abs().mean()),
            "you take the mean, in which one prediction drowns. Take the largest change.",
        ),
    ],
)

# Exercise: mend a file ---------------------------------------------------------------------------


def _mended(answer: Any) -> Verdict:
    given = text_of(*FIVE)
    try:
        text = answer(given) if callable(answer) else answer
    except Exception as error:  # whatever the reader's function raises
        return Verdict("wrong", f"`mend` raises {type(error).__name__}: {error}")
    if text is None or text == given:
        return Verdict("nothing yet", "return the text with something changed, then run this again")
    if not isinstance(text, str):
        return Verdict("wrong", f"`mend` returns the text of the file, a string; got {kind(text)}")
    try:
        model = build(text)
        report = examine(model, pad=0)
    except Exception as error:  # the file is the reader's
        return Verdict("wrong", f"the file does not run: {type(error).__name__}: {error}")
    if report.bugs:
        told = "; ".join(f"{bug.name}: {bug.sentence}" for bug in report.bugs)
        return Verdict("wrong", f"the doctor still sees this. {told}")
    if report.departures:
        told = "; ".join(f"{one.name}: {one.sentence}" for one in report.departures)
        return Verdict("wrong", f"no bug is left, but something of the paper's is gone. {told}")
    n = len(report.looked_for)
    return Verdict("right", f"none of the {n} bugs that the doctor looks for is seen any more")


mended = OwnCheck(name="mended", judge=_mended)
