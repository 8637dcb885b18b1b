"""The quick step gives the model's own logits, and leaves alone what it does not know."""

import pytest
import torch
from decoding_peers import make_model, make_source

from transformer.cache import DecoderCache
from transformer.inference.greedy import greedy_decode
from transformer.inference.step import step_decoder


def is_the_models_own(model) -> bool:
    return step_decoder(model) == (model.decode, model.project, False)


def both(model, *, beam: int = 1, source=None) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Four steps of each, with the same random tokens and rows that change places.

    The model's own has a source for every row; of the quick one, beams share theirs.
    """
    source = make_source(1) if source is None else source
    found = []
    with torch.inference_mode():
        memory = model.encode(source)
        copies = [x.repeat_interleave(beam, dim=0) for x in (memory, source)]
        steps = [
            (model.decode, model.project, *copies, DecoderCache(model.config.n_layers)),
            (*step_decoder(model)[:2], memory, source, DecoderCache(model.config.n_layers)),
        ]
        for seed in range(4):
            generator = torch.Generator().manual_seed(seed)
            tokens = torch.randint(3, 12, (len(copies[0]), 1), generator=generator)
            rows = torch.randperm(len(tokens), generator=generator)
            logits = []
            for decode, project, memory, source, cache in steps:
                logits.append(project(decode(tokens, memory, source, cache=cache)[:, -1]))
                cache.select(rows, sources=None)
            found.append(tuple(logits))
    return found


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "pre", "positions": "learned", "bias": False, "activation": "swish"},
        {"activation": "swish", "output_bias": True},
        {"positions": "none", "d_k": 3, "d_v": 5, "scale_scores": False},
    ],
)
def test_equals_the_models_own_decoding(changes) -> None:
    model = make_model(2, **changes)
    if model.output_bias is not None:
        torch.nn.init.normal_(model.output_bias)
    assert not is_the_models_own(model)
    for expected, logits in both(model):
        assert torch.equal(logits, expected)
    for expected, logits in both(model.double(), beam=3):  # they ask their source together
        torch.testing.assert_close(logits, expected, rtol=1e-9, atol=1e-9)


def test_one_row_is_the_models_own_but_for_rounding() -> None:
    """A product with one row adds up in another order once its matrix is laid out for it."""
    model, source = make_model(2), make_source(1)
    for sources in (source[:1], source[2:3]):  # without padding, and with it
        for expected, logits in both(model, source=sources):
            torch.testing.assert_close(logits, expected, rtol=1e-5, atol=1e-5)


def test_a_hook_or_another_kind_of_module_is_heard() -> None:
    model = make_model(2)
    watched = (model.decoder, model.decoder.layers[0].feed_forward, model.target_embedding)
    for module in watched:
        hook = module.register_forward_hook(lambda *_: None)
        assert is_the_models_own(model)
        hook.remove()
    assert not is_the_models_own(model)
    model.decoder.layers[0].residuals[1].layer_norm = torch.nn.Identity()
    assert is_the_models_own(model)


@pytest.mark.parametrize("method", ["decode", "project", "_embed"])
def test_a_method_of_somebody_else_is_heard(method, monkeypatch) -> None:
    model = make_model(2)
    monkeypatch.setattr(model, method, getattr(model, method))
    assert is_the_models_own(model)


def test_a_step_holds_the_weights_of_when_it_was_made() -> None:
    model, source = make_model(2), make_source(1)
    step = step_decoder(model)
    before = greedy_decode(model, source, max_len=8)
    with torch.no_grad():
        model.decoder.layers[0].feed_forward.expand.weight.normal_()
        model.output_weight.mul_(-1.0)
    after = greedy_decode(model, source, max_len=8)
    assert after != before
    assert greedy_decode(model, source, max_len=8, step=step_decoder(model)) == after
    assert greedy_decode(model, source, max_len=8, step=step) != after
