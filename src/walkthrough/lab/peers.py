"""PyTorch's own modules with our sizes and our weights: the reference that our model is held to.

Chapters show the equality, tests hold it, benchmarks measure against it.
"""

from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.config import PAD_ID, TransformerConfig
from transformer.layers import DecoderLayer, EncoderLayer
from transformer.model import Transformer

# Where each of our layers' parts sits in PyTorch's: attribute paths, ours → theirs.
FEED_FORWARD = {"feed_forward.expand": "linear1", "feed_forward.contract": "linear2"}
ENCODER_NORMS = {"residuals.0.layer_norm": "norm1", "residuals.1.layer_norm": "norm2"}
DECODER_NORMS = {**ENCODER_NORMS, "residuals.2.layer_norm": "norm3"}


def torch_stacks(config: TransformerConfig) -> nn.Transformer:
    """Return `nn.Transformer` with these sizes and weights of its own, as PyTorch makes it.

    It holds the two stacks of layers only: no embedding, no positions, no output projection. With
    either kind of norm it ends each stack with one more layer norm.
    """
    return nn.Transformer(
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


@torch.no_grad()
def torch_transformer(ours: Transformer) -> nn.Transformer:
    """Return `nn.Transformer` with the weights of `ours`; what PyTorch adds is taken off."""
    theirs = torch_stacks(ours.config)
    theirs.encoder.use_nested_tensor = False  # packs sentences without gradients, and warns
    for our_stack, their_stack in (
        (ours.encoder, theirs.encoder),
        (ours.decoder, theirs.decoder),
    ):
        for our_layer, their_layer in zip(our_stack.layers, their_stack.layers, strict=True):
            copy_layer(cast("EncoderLayer | DecoderLayer", our_layer), their_layer)
        if ours.config.norm == "pre":
            cast(nn.LayerNorm, their_stack.norm).load_state_dict(our_stack.final_norm.state_dict())
        else:  # PyTorch adds a last norm to post-norm too; the paper has none
            their_stack.norm = None
    return theirs.train(ours.training)


def torch_states(
    ours: Transformer,
    theirs: nn.Transformer,
    source: Int[Tensor, "batch source_len"],
    target: Int[Tensor, "batch target_len"],
) -> Float[Tensor, "batch target_len d_model"]:
    """Return the decoder states that PyTorch computes from our embeddings.

    Its masks are inverted: True = may NOT attend.

    Raises:
        ValueError: the model has no positional encoding.
    """
    if ours.positions is None:
        raise ValueError("the peer adds positions to embeddings; got a model with positions='none'")
    return theirs(
        ours.source_embedding(source) + ours.positions(source.shape[1]),
        ours.target_embedding(target) + ours.positions(target.shape[1]),
        tgt_mask=future_mask(target),
        src_key_padding_mask=source == PAD_ID,
        tgt_key_padding_mask=target == PAD_ID,
        memory_key_padding_mask=source == PAD_ID,
    )


def future_mask(target: Tensor) -> Tensor:
    """Return what PyTorch wants to know of later positions: True = may NOT attend."""
    length = target.shape[1]
    return torch.ones(length, length, dtype=torch.bool, device=target.device).triu(1)


@torch.no_grad()
def copy_layer(ours: EncoderLayer | DecoderLayer, theirs: nn.Module) -> None:
    """Copy the weights of one layer into PyTorch's."""
    is_decoder = isinstance(ours, DecoderLayer)
    copy_attention(ours.self_attention, cast(nn.MultiheadAttention, theirs.self_attn))
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross_attention, cast(nn.MultiheadAttention, theirs.multihead_attn))
    paths = FEED_FORWARD | (DECODER_NORMS if is_decoder else ENCODER_NORMS)
    for our_path, their_path in paths.items():
        state = ours.get_submodule(our_path).state_dict()
        theirs.get_submodule(their_path).load_state_dict(state)


@torch.no_grad()
def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """Copy the weights of one attention; PyTorch keeps W^Q, W^K and W^V in one matrix."""
    projections = (ours.query_proj, ours.key_proj, ours.value_proj)
    theirs.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
    theirs.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
    theirs.out_proj.load_state_dict(ours.output_proj.state_dict())
