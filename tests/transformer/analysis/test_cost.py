"""Guards against forgotten matrices, attention counted once in the decoder, sizes swapped."""

import math
from typing import get_args

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from transformer.analysis.cost import (
    PAPER_PARAMETERS,
    Layer,
    attention_flops,
    feed_forward_flops,
    forward_flops,
    layer_cost,
    parameter_count,
    path_length,
    training_cost,
)
from transformer.attention import MultiHeadAttention
from transformer.config import TransformerConfig
from transformer.feed_forward import PositionwiseFeedForward
from transformer.model import Transformer

CONFIGS = {
    "tiny": TransformerConfig.tiny(500),
    "own head sizes": TransformerConfig.tiny(500, d_k=24, d_v=40),
    "published": TransformerConfig.tiny(500, activation="swish", output_bias=True),
    "narrow": TransformerConfig(vocab_size=90, d_model=64, n_heads=2, n_layers=3, d_ff=96),
}


def counted(call):
    """FLOPs by PyTorch's counter; the fused kernel is not known to it on every device."""
    counter = FlopCounterMode(display=False)
    with sdpa_kernel(SDPBackend.MATH), torch.no_grad(), counter:
        call()
    return counter.get_total_flops()


def counted_forward(config, source_len, target_len, batch):
    model = Transformer(config).eval()
    source = torch.full((batch, source_len), 5)
    target = torch.full((batch, target_len), 5)
    return counted(lambda: model(source, target))


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize(
    ("source_len", "target_len", "batch"), [(7, 7, 1), (23, 11, 3), (5, 31, 2)]
)
def test_forward_agrees_with_pytorch_within_one_per_cent(name, source_len, target_len, batch):
    config = CONFIGS[name]
    ours = forward_flops(config, source_len=source_len, target_len=target_len, batch=batch).total
    theirs = counted_forward(config, source_len, target_len, batch)
    assert ours == pytest.approx(theirs, rel=0.01)


def test_attention_and_feed_forward_agree_with_pytorch_one_by_one():
    config = CONFIGS["own head sizes"]
    attention = MultiHeadAttention(d_model=128, n_heads=4, d_k=24, d_v=40)
    query, key = torch.randn(2, 9, 128), torch.randn(2, 6, 128)
    flops = attention_flops(config, query_len=9, key_len=6, batch=2)
    assert flops.total == counted(lambda: attention(query, key, key))
    feed_forward = PositionwiseFeedForward(d_model=128, d_ff=512)
    assert feed_forward_flops(config, length=9, batch=2) == counted(lambda: feed_forward(query))


def test_a_batch_is_one_sentence_unless_told_otherwise():
    config, lengths = CONFIGS["own head sizes"], {"query_len": 9, "key_len": 6}
    assert attention_flops(config, **lengths) == attention_flops(config, **lengths, batch=1)
    one = feed_forward_flops(config, length=9)
    assert feed_forward_flops(config, length=9, batch=3) == 3 * one
    one = forward_flops(config, source_len=9, target_len=6)
    assert forward_flops(config, source_len=9, target_len=6, batch=3).total == 3 * one.total


def test_only_the_products_of_positions_grow_with_the_square_of_the_length():
    config = TransformerConfig.base()
    short = attention_flops(config, query_len=50, key_len=50)
    long = attention_flops(config, query_len=100, key_len=100)
    assert long.projections == 2 * short.projections
    assert (long.weights, long.values) == (4 * short.weights, 4 * short.values)


def test_self_attention_is_cheaper_than_recurrence_exactly_when_n_is_below_d():
    for n in (1, 64, 511, 512, 513, 4096):
        attention = layer_cost("self-attention", n=n, d=512).operations
        recurrence = layer_cost("recurrent", n=n, d=512).operations
        assert (attention < recurrence) == (n < 512)


def test_table_1_for_one_set_of_sizes():
    sizes = {"n": 100, "d": 512, "k": 3, "r": 10}
    rows = {
        layer: (cost.operations, cost.sequential, cost.path)
        for layer in get_args(Layer)
        for cost in [layer_cost(layer, **sizes)]
    }
    assert rows == {
        "self-attention": (100 * 100 * 512, 1, 1),
        "recurrent": (100 * 512 * 512, 100, 100),
        "convolutional": (3 * 100 * 512 * 512, 1, math.ceil(99 / 2)),
        "dilated": (3 * 100 * 512 * 512, 1, 5),  # 3⁴ < 100 ≤ 3⁵
        "separable": (3 * 100 * 512 + 100 * 512 * 512, 1, math.ceil(99 / 2)),
        "restricted": (10 * 100 * 512, 1, math.ceil(99 / 5)),
    }


def test_a_kernel_is_3_and_a_neighbourhood_64_wide_unless_told_otherwise():
    for layer in get_args(Layer):
        expected = layer_cost(layer, n=100, d=8, k=3, r=64)
        assert layer_cost(layer, n=100, d=8) == expected
        assert path_length(layer, n=100) == expected.path


def test_the_narrowest_neighbourhood_reaches_one_position_a_layer():
    assert path_length("restricted", n=9, r=2) == path_length("restricted", n=9, r=3) == 8
    assert path_length("restricted", n=10, r=7) == path_length("restricted", n=10, r=6) == 3


@pytest.mark.parametrize("layer", get_args(Layer))
def test_one_position_is_one_edge_away_from_itself(layer):
    assert path_length(layer, n=1) == 1


def test_separable_convolution_with_k_equal_n_costs_attention_and_feed_forward():
    n, d = 60, 512  # the last remark of Section 4
    separable = layer_cost("separable", n=n, d=d, k=n).operations
    assert separable == layer_cost("self-attention", n=n, d=d).operations + n * d * d


def reached(n, offsets_of_layer):
    """Layers until a signal at position 0 has visited n − 1, by walking the graph."""
    visited, layers = {0}, 0
    while n - 1 not in visited:
        visited = {p + o for p in visited for o in offsets_of_layer(layers) if p + o < n}
        layers += 1
    return layers


@pytest.mark.parametrize("n", [2, 3, 9, 10, 27, 28, 100])
def test_path_lengths_agree_with_walking_the_graph(n):
    for k in (2, 3, 5):
        assert path_length("convolutional", n=n, k=k) == reached(n, lambda _, k=k: range(k))
        assert path_length("separable", n=n, k=k) == path_length("convolutional", n=n, k=k)
        gaps = lambda layer, k=k: range(0, k * k**layer, k**layer)  # noqa: E731
        assert path_length("dilated", n=n, k=k) == reached(n, gaps)
    assert path_length("restricted", n=n, r=6) == reached(n, lambda _: range(-3, 4))
    one_edge_in = 1  # from the input into the recurrence
    assert path_length("recurrent", n=n) == one_edge_in + reached(n, lambda _: (1,))
    assert path_length("self-attention", n=n) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"norm": "pre"},
        {"bias": False},
        {"bias": False, "norm": "pre"},
        {"tie_embeddings": False},
        {"positions": "learned", "max_len": 70},
        {"d_k": 24, "d_v": 40},
    ],
)
def test_parameters_counted_on_paper_are_those_of_the_model(changes):
    config = TransformerConfig.tiny(500, **changes)
    assert parameter_count(config) == Transformer(config).n_parameters


def test_all_models_of_table_3_count_right():
    for config in TransformerConfig.table3().values():
        with torch.device("meta"):
            assert parameter_count(config) == Transformer(config).n_parameters


def test_with_37000_words_base_has_63_and_not_65_million_parameters():
    assert parameter_count(TransformerConfig.base()) / 1e6 == pytest.approx(63.1, abs=0.05)


def test_all_printed_rows_but_big_are_those_of_41000_words():
    models = TransformerConfig.table3(41_000)
    for row, millions in PAPER_PARAMETERS.items():
        if row != "big":
            assert round(parameter_count(models[row]) / 1e6) == millions


def test_table_2_training_costs():
    base = training_cost(hours=12, n_gpus=8, gpu="P100")
    big = training_cost(hours=3.5 * 24, n_gpus=8, gpu="P100")
    assert f"{base:.1e}" == "3.3e+18"
    assert f"{big:.1e}" == "2.3e+19"


@pytest.mark.parametrize(
    ("gpu", "tflops"), [("K80", 2.8), ("K40", 3.7), ("M40", 6.0), ("P100", 9.5)]
)
def test_an_hour_on_one_gpu_at_the_rates_of_the_papers_footnote(gpu, tflops):
    cost = training_cost(hours=1, n_gpus=1, gpu=gpu)
    assert cost == pytest.approx(3600 * tflops * 10**12, rel=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: training_cost(hours=1, n_gpus=1, gpu="H100"), "one of K80, K40, .* got 'H100'"),
        (lambda: training_cost(hours=0, n_gpus=8, gpu="P100"), "positive, got 0 and 8"),
        (lambda: layer_cost("self-attention", n=0, d=8), "n must be at least 1, got 0"),
        (lambda: layer_cost("self-attention", n=8, d=0), "d must be at least 1, got 0"),
        (lambda: training_cost(hours=1, n_gpus=0, gpu="P100"), "positive, got 1 and 0"),
        (lambda: layer_cost("pooling", n=9, d=8), "one of self-attention, .* got 'pooling'"),
        (lambda: layer_cost("dilated", n=9, d=8, k=1), "at least 2.* got 1 and 64"),
        (lambda: path_length("restricted", n=9, r=1), "at least 2.* got 3 and 1"),
        (
            lambda: forward_flops(CONFIGS["tiny"], source_len=0, target_len=3),
            "source_len must be at least 1, got 0",
        ),
        (
            lambda: forward_flops(CONFIGS["tiny"], source_len=3, target_len=0),
            "target_len must be at least 1, got 0",
        ),
        (
            lambda: forward_flops(CONFIGS["tiny"], source_len=3, target_len=3, batch=0),
            "batch must be at least 1, got 0",
        ),
        *(
            (
                lambda wrong=wrong: attention_flops(
                    CONFIGS["tiny"], **{"query_len": 3, "key_len": 3, wrong: 0}
                ),
                f"{wrong} must be at least 1, got 0",
            )
            for wrong in ("query_len", "key_len", "batch")
        ),
        *(
            (
                lambda wrong=wrong: feed_forward_flops(CONFIGS["tiny"], **{"length": 3, wrong: 0}),
                f"{wrong} must be at least 1, got 0",
            )
            for wrong in ("length", "batch")
        ),
    ],
)
def test_bad_input_is_refused_with_the_values(as_users_run_it, call, message):
    with pytest.raises(ValueError, match=message):
        call()
