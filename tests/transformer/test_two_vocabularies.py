"""Words in, brackets out: two vocabularies, while one stays what it was, byte for byte."""

import pytest
import torch

from transformer import Transformer, TransformerConfig
from transformer.analysis.cost import forward_flops, parameter_count
from transformer.config import PAD_ID
from transformer.training.checkpoint import (
    check_same_config,
    load_checkpoint,
    save_checkpoint,
)
from transformer.training.objective import TranslationLoss, perplexity

SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 24, "dropout": 0.0}


def two(**changes) -> TransformerConfig:
    values = {"target_vocab_size": 9, "tie_embeddings": False, **SIZES, **changes}
    return TransformerConfig(vocab_size=30, **values)


def test_one_vocabulary_is_not_written_as_two():
    config = TransformerConfig(vocab_size=30, **SIZES)
    assert config.vocab_sizes == (30, 30)
    assert "target_vocab_size" not in config.to_dict()
    assert TransformerConfig.from_dict(config.to_dict()) == config


def test_two_vocabularies_come_back_from_a_file(tmp_path):
    model = Transformer(two())
    assert model.config.vocab_sizes == (30, 9)
    save_checkpoint(tmp_path / "m.safetensors", model)
    again = load_checkpoint(tmp_path / "m.safetensors", expected=two()).model()
    source, target = torch.tensor([[29, 4, 2]]), torch.tensor([[1, 8]])
    assert torch.equal(again(source, target), model.eval()(source, target))


def test_each_side_has_its_own_rows():
    model = Transformer(two())
    assert len(model.source_embedding.weight) == 30
    assert len(model.target_embedding.weight) == len(model.output_weight) == 9
    source, target = torch.tensor([[29, 4, 2]]), torch.tensor([[1, 8]])
    assert model(source, target).shape == (1, 2, 9)
    with pytest.raises(ValueError, match=r"must lie in \[0, 9\), got ids from 1 to 29"):
        model(source, torch.tensor([[1, 29]]))


def test_parameters_and_operations_count_both():
    config = two()
    assert parameter_count(config) == Transformer(config).n_parameters
    one = TransformerConfig(vocab_size=9, **SIZES)
    flops = [forward_flops(c, source_len=4, target_len=5).projection for c in (config, one)]
    assert flops[0] == flops[1]  # the projection is to the target's tokens


def test_loss_and_perplexity_know_the_target_vocabulary():
    model = Transformer(two())
    source, target = torch.tensor([[29, 4, 2]]), torch.tensor([[8, 5, PAD_ID]])
    loss = TranslationLoss(model, smoothing=0.1)(source, torch.tensor([[1, 8, 5]]), target)
    loss.backward()
    assert torch.isfinite(loss)
    assert 1 < perplexity(model, [([29, 4], [8, 5])]) < 100


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tie_embeddings": True}, "tie_embeddings must be off .* 30 source and 9 target tokens"),
        ({"target_vocab_size": 3}, "target_vocab_size must exceed the 4 special tokens, got 3"),
    ],
)
def test_what_cannot_be_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        two(**changes)


def test_a_checkpoint_with_another_number_of_vocabularies_is_another_model():
    with pytest.raises(ValueError, match=r"target_vocab_size \(expected None, found 9\)"):
        check_same_config("m", two(), two(target_vocab_size=None))
    with pytest.raises(ValueError, match=r"target_vocab_size \(expected 9, found None\)"):
        check_same_config("m", two(target_vocab_size=None), two())
