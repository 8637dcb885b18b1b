"""What is no encoder–decoder, or cannot be followed, is told so; a compiled one is not compiled."""

import pytest
import torch
from torch import nn
from variants import built

from walkthrough.doctor import CannotCallError, examine


class DecoderAlone(nn.Module):
    """A language model: its second argument is labels."""

    def __init__(self):
        super().__init__()
        self.model = built()

    def forward(self, ids, targets=None):
        logits = self.model.out(self.model.encode(ids, torch.ones(1, dtype=torch.bool)))
        return logits, None if targets is None else logits.mean() + targets.sum()


class EncoderAlone(nn.Module):
    def forward(self, ids):
        return ids


def test_a_decoder_alone_is_no_bug():
    report = examine(DecoderAlone())
    assert report.bugs == report.departures == []
    assert [f.name for f in report.not_examined] == ["model"]
    assert report.verdict().endswith("could not be examined.")


def test_a_source_that_the_call_leaves_out_is_told():
    model = DecoderAlone()
    report = examine(model, call=lambda _, target: model(target))
    assert "the source moves no logit" in report.not_examined[0].sentence


def test_one_argument_is_one_stack():
    with pytest.raises(CannotCallError, match="forward takes ids alone"):
        examine(EncoderAlone())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_torch_jit_keeps_is_told():
    with pytest.raises(CannotCallError, match="operators"):
        examine(torch.jit.trace(nn.Linear(2, 2), torch.ones(1, 2)))


def test_a_compiled_model_runs_as_it_is():
    def compiler(*_):
        raise AssertionError("compiled")

    report = examine(torch.compile(built(), backend=compiler))
    assert not report.bugs
    assert report.model == "Plain"
