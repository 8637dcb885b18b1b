"""The page of notation tells the truth: values of the base model, names in the code, shapes."""

import re
from pathlib import Path

import pytest
import torch

from transformer import Transformer, TransformerConfig
from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from transformer.inference.translate import Decoding
from transformer.masks import causal_mask, padding_mask
from transformer.training import trainer
from transformer.training.settings import TrainSettings

BOOK = Path(__file__).parents[2] / "book"
PAGE = (BOOK / "notation.md").read_text(encoding="utf-8")
SIZES = {"batch": 2, "source_len": 5, "target_len": 3}
CONFIG = TransformerConfig(
    vocab_size=29, d_model=12, n_heads=4, d_k=7, d_v=6, d_ff=17, n_layers=2, dropout=0.0
)


def table(heading: str) -> list[list[str]]:
    """The rows of the table under a heading, without its first two lines."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def stated_shape(text: str) -> tuple[int, ...]:
    """The numbers that a shape like (batch, n_heads · d_v) stands for in `CONFIG`."""
    names = {**SIZES, **{name: getattr(CONFIG, name) for name in vars(CONFIG)}}
    sizes = []
    for part in text.strip("()").split(","):
        factors = [factor.strip() for factor in part.split("·")]
        product = 1
        for factor in factors:
            product *= int(factor) if factor.isdigit() else names[factor]
        sizes.append(product)
    return tuple(sizes)


def run_shapes() -> dict[str, tuple[int, ...]]:
    """The shape of every tensor of the table, from a forward pass in which all sizes differ."""
    torch.manual_seed(0)
    model = Transformer(CONFIG).eval()
    source = torch.randint(4, 29, (SIZES["batch"], SIZES["source_len"]))
    target = torch.randint(4, 29, (SIZES["batch"], SIZES["target_len"]))
    seen: dict[str, tuple[int, ...]] = {}

    def note(name, pick=lambda inputs, output: output):
        return lambda module, inputs, output: seen.update({name: pick(inputs, output).shape})

    encoder = model.encoder.layers[0]
    attention = encoder.self_attention
    attention.query_proj.register_forward_hook(
        note("queries of the heads, encoder", lambda _, y: attention.split_heads(y))
    )
    attention.output_proj.register_forward_hook(
        note("heads side by side, encoder", lambda inputs, _: inputs[0])
    )
    attention.value_proj.register_forward_hook(
        note("output of each head, encoder", lambda _, y: attention.split_heads(y))
    )
    encoder.feed_forward.expand.register_forward_hook(
        note("inside the feed-forward network, encoder")
    )
    model.encoder.register_forward_hook(
        note("embedding plus position, source", lambda inputs, _: inputs[0])
    )
    memory = model.encode(source)
    states = model.decode(target, memory, source)
    maps = model.attention(source, target)
    return seen | {
        "source tokens": source.shape,
        "target tokens, shifted right": target.shape,
        "memory: the encoder's output": memory.shape,
        "states: the decoder's output": states.shape,
        "logits": model(source, target).shape,
        "scores and weights, encoder": maps.encoder.shape[1:],
        "weights, decoder self-attention": maps.decoder.shape[1:],
        "weights, encoder–decoder attention": maps.cross.shape[1:],
        "padding mask of the source": padding_mask(source).shape,
        "causal mask": causal_mask(SIZES["target_len"]).shape,
    }


def test_values_of_the_base_model_are_the_presets():
    base = TransformerConfig.base()
    stated = {row[1].strip("`"): row[3] for row in table("Sizes") if row[3] != "–"}
    for name in ("n_layers", "d_model", "n_heads", "d_k", "d_v", "d_ff", "dropout", "vocab_size"):
        assert float(stated.pop(name)) == getattr(base, name), name
    assert float(stated.pop("smoothing")) == TrainSettings().smoothing
    assert float(stated.pop("alpha")) == Decoding().alpha
    assert float(stated.pop("warmup")) == TrainSettings().warmup
    adam = f"betas=({stated.pop('betas')}), eps={stated.pop('eps')}"
    assert adam in Path(trainer.__file__).read_text(encoding="utf-8")
    assert not stated


def test_every_shape_is_the_one_of_a_forward_pass():
    stated = {row[0]: stated_shape(row[1]) for row in table("A sentence on its way")}
    assert stated == {name: tuple(shape) for name, shape in run_shapes().items()}


@pytest.mark.parametrize(
    "wrong", ["(batch, n_heads, source_len, d_v)", "(batch, source_len, n_heads, d_k)"]
)
def test_a_wrong_shape_would_be_seen(wrong):
    assert stated_shape(wrong) != tuple(run_shapes()["queries of the heads, encoder"])


def test_names_of_matrices_are_names_of_the_model():
    model = Transformer(CONFIG)
    names = {part for name, _ in model.named_parameters() for part in name.split(".")}
    names |= {"query", "key", "value", "sinusoidal_encoding"}
    stated = re.findall(r"`(\w+)`", " ".join(row[1] for row in table("Matrices")))
    assert set(stated) <= names


def test_special_tokens_have_the_stated_numbers():
    assert (PAD_ID, BOS_ID, EOS_ID, UNK_ID) == (0, 1, 2, 3)
    assert "padding 0, start 1, end 2, unknown 3" in PAGE


@pytest.mark.parametrize(
    "page", sorted([*BOOK.glob("*.md"), *BOOK.glob("*.ipynb")]), ids=lambda path: path.name
)
def test_a_name_below_a_letter_is_upright(page):
    """In italics d_{ff} reads as a product of two fs."""
    assert not re.search(r"_\{(?:model|ff|drop|ls)\}", page.read_text(encoding="utf-8"))
