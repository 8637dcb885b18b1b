"""OpenNMT-py: stacks that hold their embeddings."""

from argparse import Namespace
from typing import Any

import torch
from onmt.decoders.transformer import TransformerDecoder
from onmt.encoders.transformer import TransformerEncoder
from onmt.modules.embeddings import Embeddings, PositionalEncoding
from onmt.opts import train_opts, translate_opts
from onmt.translate.penalties import PenaltyBuilder
from onmt.utils.parse import ArgumentParser
from tools.verify.libraries import probe
from torch import Tensor, nn

from transformer.config import PAD_ID
from transformer.model import Transformer


def carry(ours: Transformer) -> tuple[nn.Module, nn.Module]:
    """Return its stacks with our weights."""
    c, stacks = ours.config, []
    sizes = (c.n_layers, c.d_model, c.n_heads, c.d_ff)
    for kind, own in ((TransformerEncoder, ours.encoder), (TransformerDecoder, ours.decoder)):
        embedding = Embeddings(c.d_model, c.vocab_size, PAD_ID, position_encoding=True)
        probe.copy([embedding.word_lut], [ours.source_embedding])
        relative, biases = (0, 0), {"add_qkvbias": True}
        if kind is TransformerEncoder:
            stack = kind(*sizes, 0.0, 0.0, embedding, *relative, **biases)
            layers = stack.transformer
        else:
            plain = (False, "scaled-dot", 0.0, 0.0, embedding, *relative, False, False, 0, 0)
            stack = kind(*sizes, *plain, **biases)
            layers = stack.transformer_layers
        for their, our in zip(layers, own.layers, strict=True):
            both = [their.self_attn, getattr(their, "context_attn", None)]
            for a, b in zip(filter(None, both), probe.attentions(our), strict=True):
                probe.copy([a.linear_query, a.linear_keys, a.linear_values, a.final_linear], b)
            feed = their.feed_forward
            probe.copy([feed.w_1, feed.w_2], our.feed_forward.children())
            norms = [m for m in their.children() if isinstance(m, nn.LayerNorm)]
            probe.copy([*norms, feed.layer_norm], (r.layer_norm for r in our.residuals))
        stacks.append(stack.eval())
    return tuple(stacks)


def call(ours: Transformer, theirs: tuple[nn.Module, nn.Module]) -> tuple[Tensor, Tensor]:
    """Return memory and logits."""
    lengths = (probe.SOURCE != PAD_ID).sum(1)
    memory = theirs[0](probe.SOURCE[..., None], lengths)[0]
    theirs[1].state["src"] = probe.SOURCE[..., None]
    states = theirs[1](probe.TARGET[..., None], memory, src_len=lengths)[0]
    return memory, ours.project(states)


def measure() -> dict[str, Any]:
    """Return the row."""
    ours = probe.paper_model()
    theirs = carry(ours)
    by_default = probe.difference(ours, *call(ours, theirs))
    for side, stack in zip(("encoder", "decoder"), theirs, strict=True):
        probe.copy([stack.layer_norm], [probe.last_norm(side)])
    options = _defaults()
    layer = theirs[0].transformer[0]
    kinds = "SinusoidalInterleaved", "SinusoidalConcat"
    layouts = [probe.positions_like(PositionalEncoding(32, kind).pe[:50, 0]) for kind in kinds]
    penalty = PenaltyBuilder("none", options.length_penalty).length_penalty(7, options.alpha)
    return {
        "facts": {
            **probe.norms_like(ours, *call(ours, theirs)),
            "scale": _scale(),
            "positions": f"by default {'sinusoids' if options.position_encoding else 'none'}; "
            f"`SinusoidalInterleaved`: {layouts[0]}; `SinusoidalConcat`: {layouts[1]}",
            "biases": probe.biases(options.add_qkvbias or None, options.add_ffnbias or None),
            "activation": probe.activation_like(layer.feed_forward.activation),
            "dropout": f"attention weights {options.attention_dropout[0]:g}, one rate of "
            f"{options.dropout[0]:g} for the rest",
            "tie": f"embeddings: {probe.YES[options.share_embeddings]}; output: "
            f"{probe.YES[options.share_decoder_embeddings]}",
            "true": probe.true_like(
                lambda keys, mask: layer(keys, mask[:, None, None].expand(-1, -1, 3, -1))
            ),
            "search": f"length penalty “{options.length_penalty}” with alpha {options.alpha:g}: "
            f"{penalty:g} at length 7; the rest not measured",
        },
        "carries": "no",
        "with": "it has no post-norm; with pre-norm and last norms it is ours",
        "carried": {},
        "default": by_default,
        "notes": [],
    }


def _defaults() -> Any:
    """Return the command line's defaults, of training and of translation."""
    found = Namespace()
    needed = {"-data": "x", "-src_vocab": "x", "-save_model": "x", "-src": "x", "-model": "x"}
    for group in (train_opts, translate_opts):
        parser = ArgumentParser()
        group(parser)
        known = {name for action in parser._actions for name in action.option_strings}
        words = [word for pair in needed.items() if pair[0] in known for word in pair]
        found = Namespace(**{**vars(parser.parse_known_args(words)[0]), **vars(found)})
    return found


def _scale() -> str:
    factors = []
    for positions in (False, True):
        embedding = Embeddings(32, 40, PAD_ID, position_encoding=positions)
        embedding.word_lut.weight.normal_()
        found = embedding(torch.tensor([[[5]]]))[0, 0]
        if positions:
            found = found - PositionalEncoding(32, "SinusoidalInterleaved").pe[0, 0]
        factors.append(float((found / embedding.word_lut.weight[5]).mean()))
    plain, sines = factors
    return f"without positions times {plain:.3g}, with sinusoids times {sines:.4g} (d_model 32)"
