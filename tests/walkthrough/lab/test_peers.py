"""PyTorch's modules with our weights: what `tests/transformer` compares our model with."""

import pytest
import torch
from torch import nn

from transformer import PAD_ID, Transformer, TransformerConfig
from walkthrough.lab.peers import torch_stacks, torch_states, torch_transformer

SOURCE = torch.tensor([[5, 6, 7, 2], [9, 2, PAD_ID, PAD_ID]])
TARGET = torch.tensor([[1, 11, 12], [1, 14, PAD_ID]])


def model(**changes):
    torch.manual_seed(0)
    return Transformer(TransformerConfig.tiny(20, **changes)).eval()


@torch.no_grad()
def gap(ours, theirs):
    is_real = TARGET != PAD_ID
    states = torch_states(ours, theirs, SOURCE, TARGET)
    return float((ours.states(SOURCE, TARGET) - states)[is_real].abs().max())


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # said of pre-norm as it is made
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_chapters_can_compare_without_gradients(norm):
    """PyTorch then takes another path through its encoder; warnings are errors here."""
    ours = model(norm=norm)
    with torch.no_grad():
        assert gap(ours, torch_transformer(ours)) < 1e-5


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_weights_that_were_not_copied_are_noticed():
    ours = model()
    assert gap(ours, torch_stacks(ours.config).eval()) > 0.1


def test_the_last_norms_that_pytorch_adds_are_taken_off():
    ours = model()
    theirs = torch_transformer(ours)
    assert theirs.encoder.norm is None
    assert theirs.decoder.norm is None
    added = torch_stacks(ours.config)
    assert isinstance(added.encoder.norm, nn.LayerNorm)
    n_added = sum(p.numel() for p in added.parameters())
    assert n_added - sum(p.numel() for p in theirs.parameters()) == 4 * 128


def test_a_model_without_positions_is_refused():
    ours = model(positions="none")
    with pytest.raises(ValueError, match="positions='none'"):
        torch_states(ours, torch_transformer(ours), SOURCE, TARGET)
