import json

import pytest

from transformer import Transformer, TransformerConfig


def test_defaults_are_the_papers_base_model():
    base = TransformerConfig.base()
    assert (base.n_layers, base.d_model, base.d_ff, base.n_heads) == (6, 512, 2048, 8)
    assert (base.d_k, base.d_v, base.dropout) == (64, 64, 0.1)
    assert base.norm == "post"
    assert base.tie_embeddings
    assert base.bias
    assert base.positions == "sinusoidal"
    assert (base.max_len, base.layer_norm_eps, base.residual_init) == (5000, 1e-5, "scaled")
    assert base.attention_dropout == 0.0  # §5.4 drops sub-layer outputs and the embedding sum only


def test_big_is_table_3s_last_row():
    big = TransformerConfig.big()
    assert (big.n_layers, big.d_model, big.d_ff, big.n_heads, big.dropout) == (
        6,
        1024,
        4096,
        16,
        0.3,
    )
    assert (big.d_k, big.d_v) == (64, 64)


def test_table_3_keeps_h_times_d_k_in_row_a_and_not_in_row_b():
    rows = TransformerConfig.table3()
    for h in (1, 4, 16, 32):
        row = rows[f"A h={h}"]
        assert (row.n_heads * row.d_k, row.n_heads * row.d_v) == (512, 512)
    assert (rows["B d_k=16"].d_k, rows["B d_k=16"].d_v) == (16, 64)
    assert rows["C d_model=256"].d_k == 32
    assert rows["C d_model=1024"].d_k == 128


def test_table_3_has_every_row_that_changes_the_model():
    changes = {
        "A": ("h=1", "h=4", "h=16", "h=32"),
        "B": ("d_k=16", "d_k=32"),
        "C": ("N=2", "N=4", "N=8", "d_model=256", "d_model=1024", "d_ff=1024", "d_ff=4096"),
        "D": ("dropout=0.0", "dropout=0.2"),
        "E": ("learned positions",),
    }
    rows = TransformerConfig.table3()
    named = [f"{row} {change}" for row, found in changes.items() for change in found]
    assert list(rows) == ["base", *named, "big"]
    assert len({config for config in rows.values()}) == len(rows)
    assert [rows[f"D dropout={p}"].dropout for p in ("0.0", "0.2")] == [0.0, 0.2]
    assert rows["E learned positions"].positions == "learned"
    assert [rows[f"C N={n}"].n_layers for n in (2, 4, 8)] == [2, 4, 8]
    assert [rows[f"C d_ff={d}"].d_ff for d in (1024, 4096)] == [1024, 4096]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d_model": 0}, "d_model must be at least 1, got 0"),
        ({"n_layers": 2.0}, "n_layers must be a whole number, got 2.0"),
        ({"n_heads": True}, "n_heads must be a whole number, got True"),
        ({"d_k": -1}, "d_k must be at least 1, got -1"),
        ({"d_model": 100, "n_heads": 3}, "multiple of n_heads .* d_model=100, n_heads=3"),
        ({"dropout": 1.0}, r"dropout must lie in \[0, 1\), got 1.0"),
        ({"attention_dropout": -0.1}, r"attention_dropout must lie in \[0, 1\), got -0.1"),
        ({"layer_norm_eps": 0.0}, "layer_norm_eps must be positive, got 0.0"),
        ({"layer_norm_eps": float("inf")}, "layer_norm_eps must be a finite number, got inf"),
        ({"layer_norm_eps": float("nan")}, "layer_norm_eps must be a finite number, got nan"),
        ({"tie_embeddings": "no"}, "tie_embeddings must be true or false, got 'no'"),
        ({"causal": 0}, "causal must be true or false, got 0"),
        ({"vocab_size": 3}, "exceed the 4 special tokens, got 3"),
        ({"positions": "rotary"}, r"positions must be one of .*'none'\), got 'rotary'"),
        ({"norm": "sandwich"}, "norm must be one of"),
        ({"residual_init": "zero"}, "residual_init must be one of"),
        ({"activation": "gelu"}, r"activation must be one of \('relu', 'swish'\), got 'gelu'"),
    ],
)
@pytest.mark.usefixtures("as_users_run_it")
def test_bad_values_name_the_rule_and_the_value(change, message):
    with pytest.raises(ValueError, match=message):
        TransformerConfig(**{"vocab_size": 100, **change})


def test_indivisible_sizes_are_fine_when_d_k_and_d_v_are_given():
    assert TransformerConfig(vocab_size=10, d_model=100, n_heads=3, d_k=7, d_v=9).d_v == 9


def test_replace_lets_derived_sizes_follow():
    """A stale d_k = 64 after a change of heads would build another model without a word."""
    base = TransformerConfig.base()
    assert base.replace(n_heads=4).d_k == 128
    assert base.replace(d_model=256).d_v == 32
    assert base.replace(d_k=16).replace(n_heads=4).d_k == 16  # chosen, so kept
    with pytest.raises(TypeError):
        base.replace(heads=4)


def test_survives_json():
    config = TransformerConfig.tiny(77, d_k=5, norm="pre")
    assert TransformerConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    published = TransformerConfig.tiny(77, activation="swish", output_bias=True)
    assert TransformerConfig.from_dict(published.to_dict()) == published
    assert not {"activation", "output_bias"} & set(config.to_dict())  # as in files of before
    with pytest.raises(ValueError, match=r"unknown configuration fields: \['heads'\]"):
        TransformerConfig.from_dict({"vocab_size": 10, "heads": 2})


def test_base_counts_63_million_parameters_with_the_papers_vocabulary():
    """Table 3 says 65; see chapter 09 for the vocabulary that would explain it."""
    assert Transformer(TransformerConfig.base()).n_parameters == 63_082_496


def test_a_chosen_d_k_that_equals_the_rounded_quotient_stays():
    """d_model / n_heads = 3.33 gives no d_k: 3 was chosen, and a change must not ask for it."""
    chosen = TransformerConfig(vocab_size=10, d_model=10, n_heads=3, d_k=3, d_v=3)
    assert chosen.replace(dropout=0.5).d_k == 3


def test_tiny_is_as_large_as_it_says():
    tiny = TransformerConfig.tiny(77)
    assert (tiny.n_layers, tiny.d_model, tiny.d_ff, tiny.n_heads) == (2, 128, 512, 4)
    assert (tiny.vocab_size, tiny.dropout) == (77, 0.1)


def test_the_papers_models_have_its_vocabulary_of_english_and_german():
    for model in (TransformerConfig.base(), TransformerConfig.big()):
        assert model.vocab_size == 37000  # §5.1
    assert {model.vocab_size for model in TransformerConfig.table3().values()} == {37000}
    assert {model.vocab_size for model in TransformerConfig.table3(50).values()} == {50}
