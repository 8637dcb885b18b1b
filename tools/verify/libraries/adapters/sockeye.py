"""Sockeye: stacks that a string of steps arranges, n(orm), d(ropout), r(esidual sum)."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

import torch
from sockeye.arguments import add_train_cli_args, add_translate_cli_args
from sockeye.beam_search import LengthPenalty
from sockeye.decoder import TransformerDecoder
from sockeye.encoder import TransformerEncoder
from sockeye.transformer import TransformerConfig
from tools.verify.libraries import probe
from torch import Tensor, nn

from transformer.config import PAD_ID
from transformer.model import Transformer


def carry(ours: Transformer, *, before: str = "", after: str = "drn") -> list[nn.Module]:
    """Return its stacks with our weights, and with its own table of positions."""
    c, stacks = ours.config, []
    config = TransformerConfig(
        model_size=c.d_model,
        attention_heads=c.n_heads,
        feed_forward_num_hidden=c.d_ff,
        act_type="relu",
        num_layers=c.n_layers,
        dropout_attention=0.0,
        dropout_act=0.0,
        dropout_prepost=0.0,
        positional_embedding_type="fixed",
        preprocess_sequence=before,
        postprocess_sequence=after,
        max_seq_len_source=c.max_len,
        max_seq_len_target=c.max_len,
        depth_key_value=c.d_model,
    )
    for kind, own in ((TransformerEncoder, ours.encoder), (TransformerDecoder, ours.decoder)):
        stack = kind(config)
        for their, our in zip(stack.layers, own.layers, strict=True):
            linear = [m.weight for m in their.modules() if type(m) is nn.Linear]
            wanted = []
            for number, maps in enumerate(probe.attentions(our)):
                q, k, v, o = (m.weight for m in maps)
                joined = [torch.cat([q, k, v])] if number == 0 else [q, torch.cat([k, v])]
                wanted += [o, *joined]  # its attention makes W^O first, and has no biases
            for weight, value in zip(linear, wanted, strict=False):
                weight.copy_(value)
            probe.copy([their.ff.ff1, their.ff.ff2], our.feed_forward.children())
            norms = [m for m in their.modules() if isinstance(m, nn.LayerNorm)]
            probe.copy(norms, (r.layer_norm for r in our.residuals))
        stacks.append(stack.eval())
    return stacks


def call(ours: Transformer, theirs: list[nn.Module]) -> tuple[Tensor, Tensor]:
    """Return memory and logits."""
    encoder, decoder = theirs
    lengths = (probe.SOURCE != PAD_ID).sum(1, keepdim=True)
    source, target = (ours.source_embedding.weight[ids] for ids in (probe.SOURCE, probe.TARGET))
    memory, *_ = encoder(source, lengths)
    states = decoder.init_state_from_encoder(memory, lengths, target)
    return memory, ours.project(decoder.decode_seq(target, states))


def measure() -> dict[str, Any]:
    """Return the row."""
    ours, default = probe.paper_model(), _defaults()
    for name, parameter in ours.named_parameters():
        if "attention" in name and name.endswith("bias"):
            parameter.zero_()
    before, after = default("transformer_preprocess")[0], default("transformer_postprocess")[0]
    carried, plain = carry(ours), carry(ours, before=before, after=after)
    by_default, layer = probe.difference(ours, *call(ours, plain)), plain[0].layers[0]
    layout = probe.positions_like(plain[0].pos_embedding.weight[:50])
    for stack in carried + plain:
        stack.pos_embedding.weight.copy_(ours.positions.table)
    for side, stack in zip(("encoder", "decoder"), plain, strict=True):
        probe.copy([stack.final_process.layer_norm], [probe.last_norm(side)])
    alpha, beta = default("length_penalty_alpha"), default("length_penalty_beta")
    dropout = {name: default(f"transformer_dropout_{name}")[0] for name in ("attention", "act")}
    return {
        "facts": {
            **probe.norms_like(ours, *call(ours, plain)),
            "scale": _scale(plain[0].pos_embedding),
            "positions": f"{layout}; not trained",
            "biases": probe.biases(layer.self_attention.ff_out.bias, layer.ff.ff1.bias),
            "activation": probe.activation_like(layer.ff.act),
            "dropout": f"attention weights {dropout['attention']:g}, inner feed-forward "
            f"{dropout['act']:g}, before each sum and on embeddings with positions "
            f"{default('transformer_dropout_prepost')[0]:g}",
            "tie": f"`{default('weight_tying_type')}`: yes",
            "true": probe.true_like(
                lambda keys, mask: layer(
                    keys.transpose(0, 1), mask[:, None].expand(ours.config.n_heads, 3, 3)
                ).transpose(0, 1)
            ),
            "search": f"length penalty with alpha {alpha:g} and beta {beta:g}: "
            f"{LengthPenalty(alpha, beta)(7):g} at length 7; with 0.6 and 5 it is the paper's "
            f"({LengthPenalty(0.6, 5.0)(7):.4f}, the paper's {((5 + 7) / 6) ** 0.6:.4f}); the rest "
            "not measured",
        },
        "carries": "in part",
        "with": '`--transformer-preprocess ""`, `--transformer-postprocess drn`, our table in '
        "`pos_embedding.weight`; attention without biases only",
        "carried": probe.difference(ours, *call(ours, carried)),
        "default": by_default,
        "notes": ["ε of layer norm is 1e-06."],
    }


def _defaults() -> Callable[[str], Any]:
    """Return what looks up a default of the command line, of training or of translation."""
    parsers = ArgumentParser(), ArgumentParser()
    for add, parser in zip((add_train_cli_args, add_translate_cli_args), parsers, strict=True):
        add(parser)
    return lambda name: next(d for p in parsers if (d := p.get_default(name)) is not None)


def _scale(positions: nn.Module) -> str:
    words = torch.randn(1, 1, positions.num_embed)
    factor = float(((positions(words) - positions.weight[0]) / words).mean())
    return f"yes: multiplied by {factor:.4g} (d_model {positions.num_embed})"
