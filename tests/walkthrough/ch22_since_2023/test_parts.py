"""The small models of chapter 22: what is kept, who works, who guesses."""

import pytest
import torch

from walkthrough.ch22_since_2023 import cache, speculative
from walkthrough.ch22_since_2023.experiments import recall
from walkthrough.ch22_since_2023.experts import Experts
from walkthrough.ch22_since_2023.memory import (
    Reader,
    added_state,
    best,
    corrected_state,
    faded_state,
    look_up,
)


def test_published_caches_are_those_of_the_papers():
    # DeepSeek-AI (arXiv 2505.09343, Table 1) counts 516.096 KB and 70.272 KB for these two.
    megabytes = {model.name: model.megabytes for model in cache.MODELS}
    assert megabytes["Llama 3 405B"] == pytest.approx(0.516096)
    assert megabytes["DeepSeek-V3"] == pytest.approx(0.070272)


def test_a_window_stops_the_cache():
    model = cache.Published("one", 2, 10, "nowhere", window=3)
    assert [model.gigabytes(n) for n in (0, 2, 3, 100)] == pytest.approx([0, 8e-8, 1.2e-7, 1.2e-7])


def test_latent_attention_is_the_same_without_keys_and_with_a_mask():
    torch.manual_seed(0)
    attention = cache.LatentAttention(d_model=12, n_heads=3, d_latent=5)
    x = torch.randn(4, 12)
    kept, mask = attention.latent_proj(x), torch.ones(4, 4).tril().bool()
    made = attention(x, kept, mask)
    assert torch.allclose(made, attention.absorbed(x, kept, mask), atol=1e-6)
    assert torch.allclose(made[-1:], attention(x[-1:], kept), atol=1e-6)


def test_experts_are_the_sum_of_those_chosen():
    torch.manual_seed(0)
    experts = Experts(d_model=6, d_ff=4, n_experts=5, n_used=2)
    x = torch.randn(7, 6)
    weights = experts.weights(x)
    assert torch.equal((weights > 0).sum(1), torch.full((7,), 2))
    by_all = torch.stack([expert(x) for expert in experts.experts], dim=1)
    assert torch.allclose(experts(x), (weights[..., None] * by_all).sum(1), atol=1e-6)
    assert experts.load(x).sum().item() == pytest.approx(1)


def test_balance_moves_the_choice_and_not_the_weights():
    torch.manual_seed(0)
    experts = Experts(d_model=6, d_ff=4, n_experts=4, n_used=1)
    x = torch.randn(200, 6)
    before = experts.load(x)
    for _ in range(100):
        experts.balance(x, 0.02)
    assert (experts.load(x) - 0.25).abs().max() < 0.05 < (before - 0.25).abs().max()
    chosen, weights = experts.route(x)
    assert torch.equal(weights, torch.ones(200, 1))
    assert not torch.equal(chosen, experts.router(x).argmax(-1, keepdim=True))


def test_a_memory_keeps_what_it_counts():
    assert Reader([{"window": 32}]).n_kept == 2048
    assert Reader([{"window": 4, "d_state": 8}]).n_kept == 512
    assert Reader([{"d_state": 16, "gate": True}] * 3 + [{"window": 32}]).n_kept == 3584
    names, words = torch.arange(6)[None], torch.arange(6)[None]
    for layers in ([{"window": 4, "d_state": 8}], [{"d_state": 4, "delta": True}, {"window": 4}]):
        assert Reader(layers)(names, words, names).shape == (1, 6, 64)


def test_a_window_has_forgotten_older_facts():
    memory = Reader([{"window": 2}])
    names, words = torch.arange(5)[None], torch.arange(5)[None]
    other = words.clone()
    other[0, 0] = 60
    assert torch.equal(memory(names, words, names), memory(names, other, names))
    other[0, 4] = 60
    assert not torch.equal(memory(names, words, names), memory(names, other, names))


def test_of_the_facts_that_are_picked_alone_anything_is_found():
    torch.manual_seed(0)
    key, value = torch.randn(1, 6, 4), torch.randn(1, 6, 3)
    picked = best(torch.tensor([[[0.0, 3, 1, 2, -9, 0]]]), 2)
    assert picked.tolist() == [[[False, True, False, True, False, False]]]
    found = look_up(key[:, :1], key, value, among=picked)
    assert torch.allclose(found, look_up(key[:, :1], key[:, [1, 3]], value[:, [1, 3]]))
    assert best(torch.randn(1, 1, 3), 5).all()


def test_an_indexer_reads_little_and_keeps_all():
    learned = Reader([{"window": 32, "picks": 2, "d_index": 4}])
    assert (learned.n_kept, learned.n_read) == (32 * 68, 32 * 4 + 2 * 64)
    assert Reader([{"window": 4, "d_state": 8}]).n_read == 512
    layer, facts = learned.layers[0], torch.arange(6)[None]
    with torch.no_grad():
        few = learned(facts, facts, facts)
        layer.sparse = False
        assert torch.equal(learned(facts, facts, facts), read_by_all(learned, facts))
    assert not torch.equal(few, read_by_all(learned, facts))


def read_by_all(memory, facts):
    whole = Reader([{"window": 32}])
    whole.load_state_dict(memory.state_dict(), strict=False)
    return whole(facts, facts, facts)


def test_what_the_indexer_learns_moves_it_and_nothing_else():
    torch.manual_seed(0)
    memory, facts = Reader([{"window": 32, "picks": 2, "d_index": 4}]), torch.arange(6)[None]
    loss = memory.index_loss(facts, facts, facts)
    loss.backward()
    moved = {name for name, weights in memory.named_parameters() if weights.grad is not None}
    assert moved == {"layers.0.index_query.weight", "layers.0.index_key.weight"}
    layer, about = memory.layers[0], memory.names(facts).detach()
    with torch.no_grad():
        wanted = (layer.query(about) @ layer.key(about).mT / 32**0.5).softmax(-1)
        guess = layer.index(about, about).softmax(-1)
    by_hand = (wanted * (wanted / guess).log()).sum(-1).mean()
    torch.testing.assert_close(loss.detach(), by_hand)
    assert Reader([{"window": 4}]).index_loss(facts, facts, facts) == 0


def some_facts(n=7):
    torch.manual_seed(0)
    key = torch.nn.functional.normalize(torch.randn(2, n, 4), dim=-1)
    return key, torch.randn(2, n, 3), torch.rand(2, n, 4), torch.rand(2, n)


def fact_after_fact(key, value, keep, write):
    """Both rules as they are told, one fact at a time; with `write` the delta rule."""
    state = key.new_zeros(2, 4, 3)
    for n in range(key.shape[1]):
        k, v = key[:, n, :, None], value[:, n, None]
        state = keep[:, n, :, None] * state
        missing = v if write is None else write[:, n, None, None] * (v - k.mT @ state)
        state = state + k * missing
    return state


def test_all_facts_at_once_are_the_same_as_one_after_the_other():
    key, value, keep, write = some_facts()
    faded = fact_after_fact(key, value, keep, None)
    assert torch.allclose(faded_state(key, value, keep), faded, atol=1e-6)
    corrected = fact_after_fact(key, value, torch.ones_like(keep), write)
    assert torch.allclose(corrected_state(key, value, write), corrected, atol=1e-6)


def test_what_a_gate_keeps_all_of_is_the_sum_and_what_it_closes_is_the_last_fact():
    key, value, keep, _ = some_facts()
    whole = faded_state(key, value, torch.ones_like(keep))
    assert torch.allclose(whole, added_state(key, value), atol=1e-6)
    closed = faded_state(key, value, torch.full_like(keep, 1e-30))
    assert torch.allclose(closed, added_state(key[:, -1:], value[:, -1:]))


def test_the_delta_rule_overwrites_a_key_and_leaves_others():
    key = torch.eye(3)[[0, 1, 0]][None]
    value = torch.tensor([[[1.0], [2.0], [5.0]]])
    state = corrected_state(key, value, torch.ones(1, 3))
    assert state.flatten().tolist() == [5, 2, 0]
    assert added_state(key, value).flatten().tolist() == [6, 2, 0]
    unwritten = corrected_state(key, value, torch.tensor([[1.0, 1.0, 0.0]]))
    assert unwritten.flatten().tolist() == [1, 2, 0]


def test_without_anything_to_correct_the_delta_rule_is_the_sum():
    key, value = torch.eye(4)[None], torch.randn(1, 4, 3)
    assert torch.equal(corrected_state(key, value, torch.ones(1, 4)), added_state(key, value))


def test_what_is_told_last_is_right():
    names, words, asked, right = recall.retold(5, torch.Generator().manual_seed(0))
    for row in range(5):
        last = dict(zip(names[row].tolist(), words[row].tolist(), strict=True))
        assert [last[name] for name in asked[row].tolist()] == right[row].tolist()
        twice = [names[row].tolist().count(name) for name in asked[row].tolist()]
        assert twice == [2] * recall.N_RETOLD + [1] * 16
        assert len(names[row]) == 32


def test_reading_finds_the_fact_or_nothing():
    key, value = 60 * torch.eye(3)[None], torch.tensor([[[1.0], [2.0], [3.0]]])
    assert look_up(key[:, 1:2], key, value).item() == pytest.approx(2)
    assert look_up(-key[:, :1] - key[:, 1:2] - key[:, 2:], key, value).item() == pytest.approx(0)
    assert torch.allclose(key @ added_state(key, value), 3600 * value)
    told_twice = key[:, [0, 0]]
    assert look_up(key[:, :1], told_twice, value[:, :2]).item() == pytest.approx(1.5)
    assert look_up(key[:, :1], told_twice, value[:, :2], slope=9.0).item() == pytest.approx(2, 1e-3)


def law(*shares):
    return torch.tensor(shares)


@pytest.mark.parametrize("guessed", [(0.5, 0.3, 0.2), (0.0, 0.0, 1.0), (0.1, 0.6, 0.3)])
def test_a_round_has_the_law_of_the_model(guessed):
    wanted, generator = law(0.1, 0.6, 0.3), torch.Generator().manual_seed(0)
    first = torch.zeros(3)
    for _ in range(3000):
        words = speculative.one_round(
            [0], lambda _: law(*guessed), lambda _, n: [wanted] * n, 1, generator
        )
        first[words[0]] += 1 / 3000
    assert (first - wanted).abs().max() < 0.03


def test_a_guesser_that_agrees_is_always_right():
    generator = torch.Generator().manual_seed(0)
    wanted = law(0.2, 0.8)
    for n in (0, 1, 4):
        words = speculative.one_round(
            [0], lambda _: wanted, lambda _, k: [wanted] * k, n, generator
        )
        assert len(words) == n + 1
