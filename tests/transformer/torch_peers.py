"""PyTorch's own modules with our weights copied in: the reference our model is held to."""

import torch
from torch import Tensor, nn

from transformer import MultiHeadAttention, Transformer
from transformer.layers import DecoderLayer, EncoderLayer

# Where each of our layers' parts sits in PyTorch's: attribute paths, ours → theirs.
FEED_FORWARD = {"feed_forward.expand": "linear1", "feed_forward.contract": "linear2"}
ENCODER_NORMS = {"residuals.0.layer_norm": "norm1", "residuals.1.layer_norm": "norm2"}
DECODER_NORMS = {**ENCODER_NORMS, "residuals.2.layer_norm": "norm3"}


@torch.no_grad()
def torch_attention(ours: MultiHeadAttention, d_model: int) -> nn.MultiheadAttention:
    theirs = nn.MultiheadAttention(d_model, ours.n_heads, batch_first=True)
    _copy_attention(ours, theirs)
    return theirs


@torch.no_grad()
def torch_transformer(ours: Transformer) -> nn.Transformer:
    config = ours.config
    theirs = nn.Transformer(
        d_model=config.d_model,
        nhead=config.n_heads,
        num_encoder_layers=config.n_layers,
        num_decoder_layers=config.n_layers,
        dim_feedforward=config.d_ff,
        dropout=config.dropout,
        norm_first=config.norm == "pre",
        layer_norm_eps=config.layer_norm_eps,
        batch_first=True,
    )
    for our_layer, their_layer in zip(ours.encoder.layers, theirs.encoder.layers, strict=True):
        _copy_layer(our_layer, their_layer)
    for our_layer, their_layer in zip(ours.decoder.layers, theirs.decoder.layers, strict=True):
        _copy_layer(our_layer, their_layer)
    for our_stack, their_stack in (
        (ours.encoder, theirs.encoder),
        (ours.decoder, theirs.decoder),
    ):
        if config.norm == "pre":
            their_stack.norm.load_state_dict(our_stack.final_norm.state_dict())
        else:  # PyTorch adds a last norm to post-norm too; the paper has none
            their_stack.norm = None
    return theirs.train(ours.training)


def torch_states(ours: Transformer, theirs: nn.Transformer, source: Tensor, target: Tensor):
    """The decoder states PyTorch computes, with its inverted masks: True = may NOT attend."""
    length = target.shape[1]
    return theirs(
        ours.source_embedding(source) + ours.positions(source.shape[1]),
        ours.target_embedding(target) + ours.positions(length),
        tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1),
        src_key_padding_mask=source == 0,
        tgt_key_padding_mask=target == 0,
        memory_key_padding_mask=source == 0,
    )


def _copy_layer(ours: EncoderLayer | DecoderLayer, theirs: nn.Module) -> None:
    is_decoder = isinstance(ours, DecoderLayer)
    _copy_attention(ours.self_attention, theirs.self_attn)
    if is_decoder:
        _copy_attention(ours.cross_attention, theirs.multihead_attn)
    paths = FEED_FORWARD | (DECODER_NORMS if is_decoder else ENCODER_NORMS)
    for our_path, their_path in paths.items():
        state = ours.get_submodule(our_path).state_dict()
        theirs.get_submodule(their_path).load_state_dict(state)


def _copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    projections = (ours.query_proj, ours.key_proj, ours.value_proj)
    theirs.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
    theirs.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
    theirs.out_proj.load_state_dict(ours.output_proj.state_dict())
