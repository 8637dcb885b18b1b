"""Schedules and optimisers of chapter 20, and what its experiments return."""

import pytest
import torch
from torch import nn

from transformer.config import TransformerConfig
from walkthrough.ch20_what_came_after import experiments
from walkthrough.ch20_what_came_after.blocks import TodaysAttention
from walkthrough.ch20_what_came_after.scores import clip_scores, seen_scores
from walkthrough.ch20_what_came_after.stream import streams
from walkthrough.ch20_what_came_after.training import (
    Muon,
    Recipe,
    make_optimizers,
    orthogonalised,
    rate_share,
    train,
)
from walkthrough.lab import translator


@pytest.mark.parametrize(
    ("schedule", "shares"),
    [
        ("linear", [0.1, 1.0, 0.56, 0.011]),
        ("stable", [0.1, 1.0, 1.0, 0.05]),
        ("constant", [0.1, 1.0, 1.0, 1.0]),
    ],
)
def test_every_schedule_rises_and_falls_where_it_should(schedule, shares):
    recipe = Recipe(updates=100, warmup=10, schedule=schedule)
    found = [rate_share(update, recipe) for update in (1, 10, 50, 100)]
    assert found == pytest.approx(shares, abs=0.01)


def test_singular_values_become_about_one_and_directions_stay():
    matrix = torch.randn(6, 9, generator=torch.Generator().manual_seed(0))
    step = orthogonalised(matrix)
    values = torch.linalg.svdvals(step)
    assert values.min() > 0.6
    assert values.max() < 1.3
    u, _, v = torch.linalg.svd(matrix, full_matrices=False)
    gap = u.T @ step @ v.T
    assert (gap - gap.diagonal().diag()).abs().max() < 1e-4


def test_muon_takes_the_layers_matrices_and_decay_spares_gains_and_biases():
    model = nn.ModuleDict({"embedding": nn.Embedding(5, 4), "layer": nn.Linear(4, 4)})
    rest, muon = make_optimizers(model, Recipe(optimizer="Muon"))
    assert isinstance(muon, Muon)
    assert [p.shape for p in muon.param_groups[0]["params"]] == [(4, 4)]
    matrices, vectors = rest.param_groups
    assert [p.shape for p in matrices["params"]] == [(5, 4)]
    assert matrices["weight_decay"] > 0
    assert [p.shape for p in vectors["params"]] == [(4,)]
    assert vectors["weight_decay"] == 0
    assert len(make_optimizers(model, Recipe(optimizer="Adam"))) == 1


@pytest.mark.parametrize("optimizer", ["Adam", "AdamW", "Muon"])
def test_every_optimiser_lowers_a_loss(optimizer):
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    x, y = torch.randn(2, 32, 4)
    with torch.no_grad():
        first = (model(x) - y).square().mean()
    losses = ((model(x) - y).square().mean() for _ in range(60))
    recipe = Recipe(updates=50, warmup=5, peak=0.03, optimizer=optimizer)
    seen = []
    train(model, losses, recipe, seen.append)
    assert seen == list(range(1, 51))
    with torch.no_grad():
        assert (model(x) - y).square().mean() < 0.9 * first


@pytest.fixture(scope="module")
def whole():
    """Return a small phrasebook's corpus: the real one takes long with every shape checked."""
    small = translator.load_task(train=1500, valid=20, test=120)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translator, "load_task", lambda: small)
        return experiments.load_corpus()


@pytest.fixture(scope="module")
def corpus(whole):
    return experiments.Corpus(
        whole.task,
        whole.train[:300],
        whole.valid[:20],
        whole.test[:20],
        whole.longer[:10],
        whole.test_examples[:20],
    )


def test_short_sentences_train_and_longer_ones_test(whole):
    assert max(len(source) for source, _ in whole.train + whole.test) == 8
    assert min(len(source) for source, _ in whole.longer) == 10
    assert len(whole.test) == len(whole.test_examples)


def test_a_run_of_a_block_measures_what_the_record_holds(corpus):
    recipe = Recipe(updates=50, warmup=5, peak=1e-2)
    found = experiments.block_run(corpus, experiments.TODAY, recipe, seed=1)
    names = {"parameters", "cpu_seconds", "valid_loss", "loss", "longer_loss", "largest_score"}
    assert set(found) == names | {"exact", "longer_exact", "scores"}
    assert found["loss"] < 5
    assert 0 < found["largest_score"] < 16


def test_the_largest_score_is_that_of_the_weights(corpus):
    model = experiments.new_stack(corpus, (), seed=1, n_layers=1)
    tokens = streams(corpus.test).tokens
    before = experiments.largest_score(model, tokens)
    with torch.no_grad():
        model.encoder.layers[0].self_attention.query_proj.weight.mul_(3)
    assert experiments.largest_score(model, tokens) == pytest.approx(3 * before, rel=1e-3)


def test_a_head_whose_scores_pass_the_bound_comes_back_to_it_and_no_other_moves(corpus):
    model = experiments.new_stack(corpus, (), seed=1, n_layers=1)
    attention = model.encoder.layers[0].self_attention
    tokens = streams(corpus.test).tokens
    with torch.no_grad():
        attention.query_proj.weight[:16].mul_(30)
        attention.key_proj.bias[:16].add_(3)
    with seen_scores(model) as seen:
        model(tokens)
        before = seen[attention].clone()
        clip_scores(seen, float(before[0] / 4))
        assert before[1:].max() < before[0] / 4
        model(tokens)
    torch.testing.assert_close(seen[attention], before / torch.tensor([4.0, 1, 1, 1]))
    model(tokens + 1)
    torch.testing.assert_close(seen[attention][0], before[0] / 4)  # nothing is looked at any more


def test_heads_that_share_a_key_have_no_bound():
    config = TransformerConfig(vocab_size=11, d_model=32, n_heads=4, d_ff=64, n_layers=1)
    shared = TodaysAttention(config, n_groups=2)
    with pytest.raises(ValueError, match="a key for each head: 32 and 16 rows"):
        clip_scores({shared: torch.full((4,), 9.0)}, 4.0)


def test_training_with_a_bound_keeps_the_scores_near_it(corpus):
    recipe = Recipe(updates=50, warmup=5, optimizer="Muon", muon_peak=0.1, score_bound=4.0)
    found = experiments.block_run(corpus, (), recipe, seed=1)
    assert found["largest_score"] < 8


@pytest.mark.parametrize("kind", ["encoder and decoder", "prefix"])
def test_models_with_and_without_an_encoder_are_measured_alike(corpus, kind):
    found = experiments.decoder_run(corpus, kind, Recipe(updates=50, warmup=5), seed=1)
    assert [update for update, _ in found["curve"]] == [50]
    assert found["megaflops"] > 10
    assert 0 <= found["exact"] <= 1
