"""x-transformers: an encoder and a decoder in wrappers, each with a table of its own."""

from typing import Any

import torch
from tools.verify.libraries import probe
from torch import Tensor, nn
from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper, XTransformer
from x_transformers.x_transformers import ScaledSinusoidalEmbedding

from transformer.config import PAD_ID
from transformer.model import Transformer

SIDE = {"num_tokens": 40, "depth": 1, "heads": 4, "max_seq_len": 50}


@torch.no_grad()
def carry(ours: Transformer, *, pre_norm: bool = False) -> list[TransformerWrapper]:
    c, wrapped, root = ours.config, [], ours.config.d_model**0.5
    sizes = {"dim": c.d_model, "depth": c.n_layers, "heads": c.n_heads, "attn_dim_head": c.d_k}
    sizes |= {"ff_mult": c.d_ff / c.d_model, "ff_custom_activation": nn.ReLU()}
    for kind, own, more in ((Encoder, "encoder", {}), (Decoder, "decoder", {"cross_attend": True})):
        stack, layers = kind(**sizes, pre_norm=pre_norm, **more), getattr(ours, own).layers
        maps = [[m for m in s.modules() if type(m) is nn.Linear] for s in (stack, layers)]
        for their, our in zip(*maps):  # its attention has no biases: ours must be 0
            their.load_state_dict(our.state_dict(), strict=False)
        gains = [p for name, p in stack.named_parameters() if name.endswith("gamma")]
        for gain, residual in zip(gains, [r for layer in layers for r in layer.residuals]):
            gain.copy_(residual.layer_norm.weight - 1)  # and its norms have no β
        size = {"num_tokens": c.vocab_size, "max_seq_len": c.max_len}
        one = TransformerWrapper(**size, attn_layers=stack, tie_embedding=True)
        one.token_emb.emb.weight.copy_(ours.output_weight * root)  # logits are divided by it
        one.pos_emb.emb.weight.copy_(ours.positions.table * root)  # and so are positions
        wrapped.append(one.eval())
    return wrapped


def call(encoder: TransformerWrapper, decoder: TransformerWrapper) -> tuple[Tensor, Tensor]:
    """Return memory and logits."""
    mask = probe.SOURCE != PAD_ID
    memory = encoder(probe.SOURCE, mask=mask, return_embeddings=True)
    return memory, decoder(probe.TARGET, context=memory, context_mask=mask)


def measure() -> dict[str, Any]:
    """Return the row."""
    ours = probe.paper_model(biases=False)
    plain = Decoder(dim=32, depth=1, heads=4, cross_attend=True)
    default = carry(ours, pre_norm=plain.pre_norm)
    for side, one in zip(("encoder", "decoder"), default, strict=True):
        if getattr(one.attn_layers.final_norm, "gamma", None) is not None:
            one.attn_layers.final_norm.gamma.copy_(probe.last_norm(side).weight - 1)
    attention = plain.layers[0][1]
    feed = next(m for m in plain.modules() if isinstance(m, nn.Linear) and m.bias is not None)
    norm = plain.layers[0][0][0]
    wrapper = TransformerWrapper(num_tokens=40, max_seq_len=50, attn_layers=plain)
    factor = float((wrapper.token_emb(torch.tensor([5])) / wrapper.token_emb.emb.weight[5]).mean())
    stack = Encoder(dim=32, depth=1, heads=4).eval()
    return {
        "facts": {
            **probe.norms_like(ours, *call(*default)),
            "scale": f"no: multiplied by {factor:g}",
            "positions": _positions(wrapper),
            "biases": probe.biases(attention.to_q.bias, feed.bias)
            + f"; β of layer norm: {probe.YES[norm.ln.bias is not None]}",
            "activation": probe.activation_like(
                next(m for m in plain.modules() if isinstance(m, nn.GELU | nn.ReLU))
            ),
            "dropout": f"{probe.rates(plain)} everywhere",
            "tie": _tie(),
            "true": probe.true_like(lambda keys, mask: stack(keys, mask=mask)),
            "search": _search(wrapper),
        },
        "carries": "in part",
        "with": "`pre_norm=False`, `ff_custom_activation=nn.ReLU()`, `attn_dim_head`, "
        "`tie_embedding=True`; attention without biases and norms without β only",
        "carried": probe.difference(ours, *call(*carry(ours))),
        "default": probe.difference(ours, *call(*default)),
        "notes": [
            "A gain is stored minus one: with 1 in `gamma` a layer norm's output has standard "
            f"deviation {_deviation(norm):.2g}.",
            f"With `dim=32` and four heads a head is {attention.to_q.out_features // 4} wide.",
            f"`tie_embedding` multiplies logits by {_tied_factor():.3g} (d_model 32), so that a "
            "table of √d_model · E scales as the paper does.",
        ],
    }


def _positions(wrapper: TransformerWrapper) -> str:
    table = wrapper.pos_emb(torch.zeros(1, 50, 32)) / wrapper.pos_emb.emb.weight
    sines = ScaledSinusoidalEmbedding(32)
    layout = probe.positions_like(sines(torch.zeros(1, 50, 32)) / sines.scale)
    return (
        f"learned, times {float(table.mean()):.3g} (d_model 32); with `scaled_sinu_pos_emb` "
        f"{layout}, times a learned factor that starts at {float(sines.scale):.3g}"
    )


def _tie() -> str:
    sides = {f"{side}_{name}": value for side in ("enc", "dec") for name, value in SIDE.items()}
    both = XTransformer(dim=32, **sides, tie_token_emb=True)
    table, net = both.encoder.token_emb.emb.weight, both.decoder.net
    same = net.token_emb.emb.weight is table, getattr(net.to_logits, "weight", None) is table
    embeddings, output = (probe.YES[one] for one in same)
    return f"no; `tie_token_emb` ties embeddings: {embeddings}, the output: {output}"


def _search(wrapper: TransformerWrapper) -> str:
    prompt = torch.tensor([[1]])
    try:
        AutoregressiveWrapper(wrapper).beam_search(prompt, 5, eos_token=2)
    except AssertionError as error:
        return f"`beam_search` with an end token is refused: “{error}”"
    return "`beam_search` takes an end token; not measured"


def _deviation(norm: Any) -> float:
    norm.gamma.fill_(1)
    return float(norm(torch.randn(100, 32)).std())


def _tied_factor() -> float:
    stack = Encoder(dim=32, depth=1, heads=4)
    one = TransformerWrapper(num_tokens=40, max_seq_len=5, attn_layers=stack, tie_embedding=True)
    state = torch.randn(1, 1, 32)
    return float((one.to_logits(state) / (state @ one.token_emb.emb.weight.t())).mean())
