"""The quick step gives `model.decode` to the last bit, and leaves alone what it does not know."""

import pytest
import torch
from decoding_peers import make_model, make_source

from transformer.inference.cache import DecoderCache
from transformer.inference.step import step_decoder


def both(model, *, beam: int = 1) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Four steps of each, with the same random tokens and rows that change places."""
    source = make_source(1)
    decoders = (model.decode, step_decoder(model))
    caches = [DecoderCache(model.config.n_layers) for _ in decoders]
    found = []
    with torch.inference_mode():
        memory = model.encode(source)
        for seed in range(4):
            generator = torch.Generator().manual_seed(seed)
            tokens = torch.randint(3, 12, (len(source) * beam, 1), generator=generator)
            rows = torch.randperm(len(tokens), generator=generator)
            states = [
                decode(tokens, memory, source, cache=cache)
                for decode, cache in zip(decoders, caches, strict=True)
            ]
            found.append(tuple(states))
            for cache in caches:
                cache.select(rows, sources=None)
    return found


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "pre", "positions": "learned", "bias": False, "activation": "swish"},
        {"positions": "none", "d_k": 3, "d_v": 5, "scale_scores": False},
    ],
)
@pytest.mark.parametrize("beam", [1, 3])
def test_equals_the_models_own_decoding(changes, beam) -> None:
    model = make_model(2, **changes)
    assert step_decoder(model) != model.decode
    for expected, states in both(model, beam=beam):
        assert torch.equal(states, expected)


def test_a_hook_or_another_kind_of_module_is_heard() -> None:
    model = make_model(2)
    for watched in (model.decoder, model.decoder.layers[0].feed_forward):
        hook = watched.register_forward_hook(lambda *_: None)
        assert step_decoder(model) == model.decode
        hook.remove()
    assert step_decoder(model) != model.decode
    model.decoder.layers[0].residuals[1].layer_norm = torch.nn.Identity()
    assert step_decoder(model) == model.decode
