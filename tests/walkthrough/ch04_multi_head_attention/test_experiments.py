"""The task of chapter 04 asks for two words at once, and its answers are what they say."""

import pytest
import torch
from torch import nn

from transformer.config import TransformerConfig
from transformer.data.batching import collate
from transformer.model import Transformer
from walkthrough.ch04_multi_head_attention import experiments


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_answers_are_the_neighbours_of_the_inner_words():
    tokens, answers = experiments.sentences(20, generator())
    assert answers.shape == (20, experiments.LENGTH - 2, 2)
    for i in range(1, experiments.LENGTH - 1):
        assert torch.equal(answers[:, i - 1, 0], tokens[:, i - 1])
        assert torch.equal(answers[:, i - 1, 1], tokens[:, i + 1])


def test_an_oracle_is_always_right_and_a_reader_of_one_word_half_the_time():
    class Oracle(nn.Module):
        def __init__(self, *sides):
            super().__init__()
            self.sides = sides

        def forward(self, tokens):
            words = torch.stack([tokens[:, :-2], tokens[:, 2:]], dim=-1)[..., list(self.sides)]
            return nn.functional.one_hot(words, experiments.N_WORDS).float()

    assert experiments.right_answers(Oracle(0, 1)).tolist() == [1.0, 1.0]
    before, after = experiments.right_answers(Oracle(0, 0)).tolist()
    assert before == 1.0
    assert after == pytest.approx(experiments.GUESSING, abs=0.03)


def test_one_and_two_heads_have_equally_many_parameters():
    sizes = [sum(p.numel() for p in experiments.TwoRelations(n).parameters()) for n in (1, 2)]
    assert sizes[0] == sizes[1]


def test_training_depends_on_the_seed_alone():
    torch.manual_seed(5)
    one = experiments.train(2, seed=3, steps=3)
    torch.manual_seed(6)
    other = experiments.train(2, seed=3, steps=3)
    tokens, _ = experiments.sentences(4, generator())
    assert torch.equal(one(tokens), other(tokens))


def test_training_for_no_steps_is_refused():
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        experiments.train(1, seed=0, steps=0)


def test_weights_on_neighbours_are_read_at_the_right_places():
    model = experiments.TwoRelations(2)
    tokens, _ = experiments.sentences(100, generator(10_000))
    weights = model.weights(tokens)
    before = torch.stack([weights[:, i, i - 1] for i in range(1, experiments.LENGTH - 1)]).mean(0)
    after = torch.stack([weights[:, i, i + 1] for i in range(1, experiments.LENGTH - 1)]).mean(0)
    found = experiments.neighbour_weights(model)
    torch.testing.assert_close(found, torch.stack([before, after], dim=-1))
    assert found.shape == (2, 2)


class Says(nn.Module):
    """Answers with one neighbour first and the other second, for both relations."""

    def __init__(self, first):
        super().__init__()
        self.first = first

    def forward(self, tokens):
        before, after = (
            nn.functional.one_hot(t, experiments.N_WORDS).float()
            for t in (tokens[:, :-2], tokens[:, 2:])
        )
        logits = 2 * before + after if self.first == "before" else before + 2 * after
        return torch.stack([logits, logits], dim=-2)


@pytest.mark.parametrize("first", ["before", "after"])
def test_a_reader_that_cannot_tell_the_neighbours_apart_names_the_other_one(first):
    found = experiments.worse_relation(Says(first), size=50)
    assert (found.right, found.other_neighbour, found.in_top_two) == (0.0, 1.0, 1.0)


def small_model():
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_heads": 4, "n_layers": 1, "d_ff": 16}
    config = TransformerConfig.tiny(vocab_size=20).replace(**sizes)
    batch = collate([([5, 6, 7], [8, 9]), ([4, 5], [6, 7, 8])])
    return Transformer(config).eval(), batch


def test_without_a_head_its_rows_of_the_last_matrix_do_nothing_and_come_back():
    model, _ = small_model()
    attention = experiments.attentions(model)["encoder, layer 1"]
    x, weight = torch.randn(1, 3, 16), attention.output_proj.weight.detach().clone()
    whole, _ = attention(x, x, x)
    heads = attention.split_heads(attention.value_proj(x))
    assert heads.shape[1] == 4
    with experiments.without_heads(attention, [0, 1, 2, 3]):
        nothing, _ = attention(x, x, x)
    with experiments.without_heads(attention, [1]):
        zero = attention.output_proj.weight.unflatten(-1, (4, 4)).abs().sum((0, 2)) == 0
    assert zero.tolist() == [False, True, False, False]
    torch.testing.assert_close(nothing, attention.output_proj.bias.expand_as(whole))
    assert torch.equal(attention.output_proj.weight, weight)


def test_a_head_is_put_back_after_an_error():
    attention = experiments.attentions(small_model()[0])["decoder, layer 1"]
    weight = attention.output_proj.weight.detach().clone()
    with pytest.raises(RuntimeError, match="stop"), experiments.without_heads(attention, [0]):
        raise RuntimeError("stop")
    assert torch.equal(attention.output_proj.weight, weight)


def test_losses_without_heads_are_those_of_the_model_with_them_away():
    model, batch = small_model()
    rises = experiments.loss_without_each_head(model, batch)
    assert list(rises) == ["encoder, layer 1", "decoder, layer 1", "encoder–decoder, layer 1"]
    place = ("decoder, layer 1", 2)
    alone = experiments.loss_without(model, batch, [place]) - experiments.loss(model, batch)
    assert rises[place[0]][place[1]] == pytest.approx(alone)
    order = experiments.least_needed(rises)
    assert len(order) == 12
    costs = [rises[name][head] for name, head in order]
    assert costs == sorted(costs)
