import pytest
import torch
from torch import nn

from transformer import PAD_ID, Transformer, TransformerConfig
from transformer.cache import DecoderCache
from transformer.layers import ResidualNorm
from walkthrough.lab.peers import torch_states, torch_transformer

SOURCE = torch.tensor([[5, 6, 7, 8, 2], [9, 4, 2, 0, 0]])
TARGET = torch.tensor([[1, 11, 12, 13], [1, 14, 0, 0]])


def model(**changes) -> Transformer:
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32}
    return Transformer(TransformerConfig(**(sizes | changes))).eval()


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_equals_torch_with_copied_weights(norm):
    """Both norms, both masks, padded source and target, two layers."""
    ours = model(norm=norm)
    with torch.no_grad():  # layer norms start as the identity: move them to tell them apart
        for name, parameter in ours.named_parameters():
            if "norm" in name or "bias" in name:
                parameter.add_(torch.randn_like(parameter) * 0.3)
    expected = torch_states(ours, torch_transformer(ours), SOURCE, TARGET)
    is_real = TARGET != PAD_ID
    torch.testing.assert_close(
        ours.states(SOURCE, TARGET)[is_real], expected[is_real], rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize(
    "change",
    [
        {"scale_scores": False},
        {"scale_embeddings": False},
        {"causal": False},
        {"positions": "none"},
        {"norm": "pre"},
    ],
    ids=str,
)
def test_the_comparison_rejects_a_model_with_one_thing_broken(change):
    right, wrong = model(), model(**change)
    missing, unexpected = wrong.load_state_dict(right.state_dict(), strict=False)
    assert all("final_norm" in name for name in [*missing, *unexpected])
    expected = torch_states(right, torch_transformer(right), SOURCE, TARGET)
    assert not torch.allclose(wrong.states(SOURCE, TARGET), expected, atol=1e-3)


@pytest.mark.parametrize("train_mode", [False, True])
def test_a_future_token_moves_nothing_before_it(train_mode):
    """The leak detector: change target position 2; positions 0 and 1 must not notice."""

    def first_states(broken, target):
        network = model(dropout=0.2, **broken).train(train_mode)
        torch.manual_seed(1)
        return network(SOURCE, target)[:, :2]

    changed = TARGET.clone()
    changed[:, 2] = 17
    assert torch.equal(first_states({}, TARGET), first_states({}, changed))
    leak = {"causal": False}
    assert not torch.equal(first_states(leak, TARGET), first_states(leak, changed))


def test_padding_moves_nothing():
    """More padding, or a batch with longer sentences, leaves a sentence's logits as they are."""
    ours = model()
    alone = ours(SOURCE[1:, :3], TARGET[1:, :2])
    in_a_batch = ours(SOURCE, TARGET)[1:, :2]
    torch.testing.assert_close(alone, in_a_batch, rtol=1e-5, atol=1e-5)


def test_without_positions_the_encoder_does_not_know_the_order():
    order = torch.tensor([2, 0, 1, 3, 4])
    shuffled = model(positions="none").encode(SOURCE[:1, order])
    torch.testing.assert_close(
        shuffled, model(positions="none").encode(SOURCE[:1])[:, order], rtol=1e-5, atol=1e-5
    )
    assert not torch.allclose(
        model().encode(SOURCE[:1, order]), model().encode(SOURCE[:1])[:, order]
    )


def test_one_matrix_three_uses():
    """§3.4: both embeddings and the projection share storage, and the gradient comes from each."""
    ours = model()
    pointers = {
        ours.source_embedding.weight.data_ptr(),
        ours.target_embedding.weight.data_ptr(),
        ours.output_weight.data_ptr(),
    }
    assert len(pointers) == 1
    untied = model(tie_embeddings=False)
    assert untied.n_parameters == ours.n_parameters + 2 * 20 * 16
    ours(SOURCE, TARGET).sum().backward()
    assert ours.source_embedding.weight.grad[19].abs().sum() > 0  # 19 is only ever projected to


def test_logits_and_embeddings_start_at_order_one():
    """Why √d_model: at d_model^−0.5 logits are of order 1, times √d_model the embedding is too."""
    ours = model(d_model=256, vocab_size=500)
    tokens = torch.arange(4, 500)[None]
    assert ours.target_embedding(tokens).std().item() == pytest.approx(1.0, abs=0.05)
    assert 0.5 < ours(tokens[:, :50], tokens[:, :50]).std().item() < 2.0


def test_residual_branches_start_small_unless_asked():
    """(2N)^−0.5 on W^O and W2, and nowhere else."""
    scaled, xavier = model(), model(residual_init="xavier")
    for (name, small), (_, full) in zip(
        scaled.named_parameters(), xavier.named_parameters(), strict=True
    ):
        factor = 0.5 if name.endswith(("output_proj.weight", "contract.weight")) else 1.0
        torch.testing.assert_close(small, full * factor, msg=name)


def test_attention_maps_have_every_layer_and_head():
    maps = model().attention(SOURCE, TARGET)
    assert maps.encoder.shape == (2, 2, 4, 5, 5)
    assert maps.decoder.shape == (2, 2, 4, 4, 4)
    assert maps.cross.shape == (2, 2, 4, 4, 5)
    for weights in (maps.encoder, maps.decoder, maps.cross):
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    assert (maps.decoder.triu(1) == 0).all()
    assert (maps.cross[:, 1, :, :, 3:] == 0).all()  # padding of the second sentence


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
@pytest.mark.parametrize("steps", [[1, 1, 1, 1], [2, 2], [1, 3]])
def test_cached_decoding_equals_full_decoding(positions, steps):
    """A cache that gave every new token position 0 would differ."""
    ours = model(positions=positions)
    target = torch.tensor([[1, 11, 12, 13], [1, 14, 15, 16]])
    memory = ours.encode(SOURCE)
    cache = DecoderCache(n_layers=2)
    pieces, start = [], 0
    for step in steps:
        pieces.append(ours.decode(target[:, start : start + step], memory, SOURCE, cache=cache))
        start += step
    full = ours.decode(target, memory, SOURCE)
    torch.testing.assert_close(torch.cat(pieces, 1), full, rtol=1e-5, atol=1e-5)


def test_a_source_of_only_padding_gives_finite_numbers():
    """A defined result: there is nothing to attend to, so attention contributes nothing."""
    logits = model()(torch.zeros(1, 3, dtype=torch.long), TARGET[:1])
    assert torch.isfinite(logits).all()


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (torch.zeros(0, 3, dtype=torch.long), TARGET, r"source must have shape .* got \(0, 3\)"),
        (SOURCE, TARGET[:, :0], r"target must have shape .* got \(2, 0\)"),
        (SOURCE + 20, TARGET, r"must lie in \[0, 20\), got ids from 20 to 29"),
        (SOURCE - 1, TARGET, r"got ids from -1 to 8"),
        (SOURCE, TARGET[:1], r"same sentences: got shapes \(1, 4\), \(2, 5, 16\), \(2, 5\)"),
    ],
)
@pytest.mark.usefixtures("as_users_run_it")
def test_bad_tokens_name_the_rule_and_the_values(source, target, message):
    with pytest.raises(ValueError, match=message):
        model()(source, target)


@pytest.mark.usefixtures("as_users_run_it")
def test_tokens_must_be_whole_numbers_in_rows():
    for tokens, message in ((SOURCE.float(), "dtype torch.float32"), (SOURCE[0], r"got \(5,\)")):
        with pytest.raises(ValueError, match=message):
            model().encode(tokens)


def test_learned_positions_run_out_with_a_clear_error():
    with pytest.raises(ValueError, match="exist for 4 positions, got a sequence of 5"):
        model(positions="learned", max_len=4)(SOURCE, TARGET)
    model(max_len=4)(SOURCE, TARGET)  # sinusoids are computed on


def test_dropout_falls_on_the_sum_of_embedding_and_encoding():
    """§5.4: in both stacks. With every other dropout off, training differs by this one alone."""
    ours = model(dropout=0.5, n_layers=1)
    for module in ours.modules():
        if isinstance(module, ResidualNorm):
            module.dropout.p = 0.0
    memory = ours.encode(SOURCE)
    states = ours.decode(TARGET, memory, SOURCE)
    ours.train()
    assert not torch.allclose(ours.encode(SOURCE), memory, atol=1e-2)
    assert not torch.allclose(ours.decode(TARGET, memory, SOURCE), states, atol=1e-2)
    torch.manual_seed(0)
    summed = ours._embed(ours.source_embedding, SOURCE, start=0)
    expected = 2 * ours.eval()._embed(ours.source_embedding, SOURCE, start=0)
    kept = summed != 0  # the sum was dropped, not one of its parts
    torch.testing.assert_close(summed[kept], expected[kept])
    assert 0.3 < kept.float().mean() < 0.7


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_every_layer_norm_has_the_configured_epsilon(norm):
    for changes, epsilon in (({}, 1e-5), ({"layer_norm_eps": 0.25}, 0.25)):
        norms = [m for m in model(norm=norm, **changes).modules() if isinstance(m, nn.LayerNorm)]
        assert [module.eps for module in norms] == [epsilon] * (10 if norm == "post" else 12)


def test_matrices_start_as_xavier_says_and_biases_at_zero():
    """Uniform up to √(6 / (in + out)): a normal distribution of that width goes past the bound."""
    for name, module in model(d_model=64, d_ff=128, residual_init="xavier").named_modules():
        if isinstance(module, nn.Linear):
            bound = (6 / (module.in_features + module.out_features)) ** 0.5
            assert 0.98 * bound < module.weight.abs().max() <= bound, name
            assert module.weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.05), name
            assert (module.bias == 0).all(), name


def test_padding_of_the_target_moves_nothing_without_a_causal_mask_either():
    """Right-padded, it lies in the future: only without the causal mask does its own mask show."""
    ours = model(causal=False)
    alone = ours(SOURCE[1:, :3], TARGET[1:, :2])
    torch.testing.assert_close(alone, ours(SOURCE, TARGET)[1:, :2], rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("as_users_run_it")
def test_a_memory_of_other_sentences_is_refused():
    ours = model()
    memory = ours.encode(SOURCE)
    for wrong, source in (
        (memory[:, :4], SOURCE),
        (memory[:0], SOURCE[:0]),
        (memory[:1], SOURCE[:1]),  # two targets of one source: beams share theirs elsewhere
    ):
        with pytest.raises(ValueError, match="must belong to the same sentences: got shapes"):
            ours.decode(TARGET, wrong, source)


def test_no_layer_makes_weights_that_nobody_asked_for():
    """They cost memory, and the fused kernel that does without them is the fast one."""
    ours, returned = model(), []
    for stack in (ours.encoder, ours.decoder):
        stack.register_forward_hook(lambda _, __, output: returned.append(output[1]))
    ours(SOURCE, TARGET)
    assert returned == [[None, None], [[None, None], [None, None]]]
    states, mask = torch.zeros(2, 5, 16), torch.ones(2, 1, 1, 5, dtype=torch.bool)
    assert ours.encoder(states, mask)[1] == returned[0]
    assert ours.decoder(states, states, None, mask)[1] == returned[1]


def test_everything_is_made_on_the_device_of_the_model():
    ours = model()
    expected = ours(SOURCE, TARGET)
    with torch.device("meta"):  # the default now, and no place for values
        assert torch.equal(ours(SOURCE, TARGET), expected)


def test_resetting_draws_every_matrix_anew():
    """Table by table: none is left as it was or a copy of another, and all have their width."""
    ours = model(tie_embeddings=False, positions="learned", d_model=64, vocab_size=300, max_len=300)
    before = {name: p.clone() for name, p in ours.named_parameters() if p.ndim == 2}
    ours.reset_parameters()
    after = dict(ours.named_parameters())
    assert not [name for name, matrix in before.items() if torch.equal(matrix, after[name])]
    tables = [name for name, matrix in before.items() if len(matrix) == 300]
    assert len(tables) == 4
    for name in tables:
        assert after[name].std().item() == pytest.approx(1 / 8, rel=0.05), name
        same = [other for other in tables if torch.equal(after[name], after[other])]
        assert same == [name]


def test_the_table_of_positions_has_the_configured_length():
    assert model(max_len=7).positions.table.shape == (7, 16)
    assert model(max_len=7, positions="learned").positions.weight.shape == (7, 16)


def test_a_model_without_biases_has_none_anywhere():
    names = dict(model(bias=False, norm="pre").named_parameters())
    assert "encoder.final_norm.weight" in names
    assert [name for name in names if name.endswith("bias")] == []
