"""eole, OpenNMT-py's successor: stacks that a configuration describes."""

from typing import Any

import torch
from eole.config.inference import DecodingConfig
from eole.config.models import EmbeddingsConfig, TransformerModelConfig
from eole.config.training import TrainingConfig
from eole.constants import PositionEncodingType
from eole.decoders.transformer import TransformerDecoder
from eole.encoders.transformer import TransformerEncoder
from eole.modules.embeddings import Embeddings, PositionalEncoding
from eole.predict.penalties import PenaltyBuilder
from tools.verify.libraries import probe
from torch import Tensor, nn

from transformer.config import PAD_ID
from transformer.model import Transformer

BIASES = {"add_qkvbias": True, "add_final_linear_bias": True, "add_ffnbias": True}
POST = {"encoder_layer_style": "postnorm"}


def carry(ours: Transformer, **encoder: Any) -> tuple[nn.Module, nn.Module]:
    """Return its stacks with our weights; `encoder` holds choices for that side."""
    c = ours.config
    config = TransformerModelConfig(
        hidden_size=c.d_model, layers=c.n_layers, heads=c.n_heads, transformer_ff=c.d_ff,
        embeddings={"word_vec_size": c.d_model}, encoder=encoder, **BIASES,
    )  # fmt: skip
    config.decoder.__dict__["with_cross_attn"] = True  # as its encoder–decoder class does
    stacks = TransformerEncoder(config.encoder), TransformerDecoder(config.decoder)
    for stack, own in zip(stacks, (ours.encoder, ours.decoder), strict=True):
        for their, our in zip(stack.transformer_layers, own.layers, strict=True):
            both = [their.self_attn, getattr(their, "context_attn", None)]
            for a, b in zip(filter(None, both), probe.attentions(our), strict=True):
                maps = [a.linear_query, a.linear_keys, a.linear_values, a.final_linear]
                probe.copy(maps, b)
            feed = [their.mlp.gate_up_proj, their.mlp.down_proj]
            probe.copy(feed, our.feed_forward.children())
            norms = [m for m in their.children() if isinstance(m, nn.LayerNorm)]
            probe.copy(norms, (r.layer_norm for r in our.residuals))
        stack.eval()
    return stacks


def call(ours: Transformer, theirs: tuple[nn.Module, nn.Module]) -> tuple[Tensor, Tensor]:
    """Return memory and logits: embeddings and positions are ours."""
    x, y = ours.source_embedding(probe.SOURCE), ours.target_embedding(probe.TARGET)
    x, y = x + ours.positions(x.shape[1]), y + ours.positions(y.shape[1])
    closed, ends = ((ids == PAD_ID)[:, None] for ids in (probe.SOURCE, probe.TARGET))
    memory = theirs[0](x, pad_mask=closed)[0]
    states = theirs[1](y, enc_out=memory, src_pad_mask=closed, tgt_pad_mask=ends)[0]
    return memory, ours.project(states)


def measure() -> dict[str, Any]:
    """Return the row."""
    ours = probe.paper_model()
    default, plain = carry(ours), TransformerModelConfig(embeddings={"word_vec_size": 512})
    by_default = probe.difference(ours, *call(ours, default))
    post, paper = carry(ours, **POST), carry(ours, **POST, final_encoder_layer_norm=False)
    for stacks in (default, post, paper):
        for side, stack in zip(("encoder", "decoder"), stacks, strict=True):
            if stack.layer_norm is not None:
                probe.copy([stack.layer_norm], [probe.last_norm(side)])
    asked = probe.norms_like(ours, *call(ours, post))
    carried = probe.difference(ours, call(ours, paper)[0], None)
    layer = default[0].transformer_layers[0]
    return {
        "facts": {
            **probe.norms_like(ours, *call(ours, default)),
            "scale": _scale(),
            "positions": _positions(),
            "biases": probe.biases(plain.add_qkvbias or None, plain.add_ffnbias or None)
            + f"; output layer: {probe.YES[plain.generator_bias]}",
            "activation": probe.activation_like(layer.mlp.activation),
            "dropout": "attention weights "
            f"{TrainingConfig.model_fields['attention_dropout'].default[0]:g}"
            ", one rate of "
            f"{TrainingConfig.model_fields['dropout'].default[0]:g} for the rest",
            "tie": f"embeddings: {probe.YES[plain.share_embeddings]}; output: "
            f"{probe.YES[plain.share_decoder_embeddings]}",
            "true": probe.true_like(lambda keys, mask: default[0](keys, pad_mask=mask[:, None])[0]),
            "search": _search(),
        },
        "carries": "in part",
        "with": 'the encoder: `encoder_layer_style="postnorm"`, `final_encoder_layer_norm=False` '
        "and the three `add_…bias`",
        "carried": carried,
        "default": by_default,
        "notes": [
            f'With `encoder_layer_style="postnorm"` the norm is {asked["norm"]}; a last norm: '
            f"{asked['last_norm']}. The decoder has no such option."
        ],
    }


def _scale() -> str:
    factors = {}
    for kind in (None, PositionEncodingType.SinusoidalInterleaved):
        embedding = Embeddings(32, 40, 0, position_encoding_type=kind)
        embedding.embeddings.weight.normal_()
        found = embedding(torch.tensor([[5]]))[0, 0]
        if kind:
            found = found - embedding.pe.pe[0, 0]
        factors[kind] = float((found / embedding.embeddings.weight[5]).mean())
    plain, sines = factors.values()
    return f"without positions times {plain:.3g}, with sinusoids times {sines:.4g} (d_model 32)"


def _positions() -> str:
    kinds = PositionEncodingType.SinusoidalInterleaved, PositionEncodingType.SinusoidalConcat
    layouts = [probe.positions_like(PositionalEncoding(32, kind).pe[:50, 0]) for kind in kinds]
    default = EmbeddingsConfig.model_fields["position_encoding"].default
    return (
        f"by default {'sinusoids' if default else 'none'}; `SinusoidalInterleaved`: {layouts[0]}; "
        f"`SinusoidalConcat`: {layouts[1]}"
    )


def _search() -> str:
    fields = DecodingConfig.model_fields
    name, alpha = fields["length_penalty"].default, fields["alpha"].default
    penalty = PenaltyBuilder("none", name).length_penalty(7, alpha)
    wu = PenaltyBuilder("none", "wu").length_penalty(7, 0.6)
    return (
        f"length penalty “{name}” with alpha {alpha:g}: {penalty:g} at length 7; “wu” is "
        f"the paper's ({wu:.4f} at length 7 and 0.6, the paper's {((5 + 7) / 6) ** 0.6:.4f}); "
        "the rest not measured"
    )
