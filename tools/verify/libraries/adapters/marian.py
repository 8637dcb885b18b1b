"""transformers' Marian: the paper's shape, with choices of its own in the configuration."""

from tempfile import TemporaryDirectory
from typing import Any

from tools.verify.libraries import probe, searches
from torch import Tensor
from transformers import MarianConfig, MarianMTModel
from transformers.utils import logging

from transformer.config import EOS_ID, PAD_ID
from transformer.data.codec import TextCodec
from transformer.marian import export_marian, halves, marian_config, marian_weights
from transformer.model import Transformer

logging.set_verbosity_error()
logging.disable_progress_bar()


def carry(ours: Transformer, codec: TextCodec) -> MarianMTModel:
    theirs = MarianMTModel(MarianConfig(**marian_config(ours, codec)))
    theirs.load_state_dict(marian_weights(ours, codec), strict=False)
    return theirs.eval()


def call(theirs: MarianMTModel) -> tuple[Tensor, Tensor]:
    """Return memory, in our order of d_model, and logits."""
    mask = (probe.SOURCE != PAD_ID).long()
    out = theirs(input_ids=probe.SOURCE, attention_mask=mask, decoder_input_ids=probe.TARGET)
    order = halves(out.encoder_last_hidden_state.shape[-1]).argsort()
    return out.encoder_last_hidden_state[..., order], out.logits


def measure() -> dict[str, Any]:
    """Return the row."""
    ours, codec = probe.paper_model(), probe.codec()
    theirs, sizes = carry(ours, codec), marian_config(ours, codec)
    carried = probe.difference(ours, *call(theirs))
    with TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        again = MarianMTModel.from_pretrained(folder).eval()
    config = MarianConfig()
    for key in ("scale_embedding", "activation_function"):
        sizes[key] = getattr(config, key)
    plain = MarianMTModel(MarianConfig(**sizes)).eval()
    table = plain.model.encoder.embed_positions.weight.clone()
    plain.load_state_dict(theirs.state_dict(), strict=False)
    plain.model.encoder.embed_positions.weight.copy_(table)
    plain.model.decoder.embed_positions.weight.copy_(table)
    layer = plain.model.encoder.layers[0]
    return {
        "facts": {
            **probe.norms_like(ours, *call(theirs)),
            "scale": probe.YES[bool(config.scale_embedding)],
            "positions": f"{probe.positions_like(table)}; not trained",
            "biases": probe.biases(layer.self_attn.q_proj.bias, layer.fc1.bias),
            "activation": probe.activation_like(layer.activation_fn),
            "dropout": f"attention weights {config.attention_dropout:g}, inner feed-forward "
            f"{config.activation_dropout:g}, before each sum and on embeddings {config.dropout:g}",
            "tie": probe.YES[theirs.lm_head.weight is theirs.model.shared.weight],
            "true": _true(theirs),
            "search": _search(),
        },
        "carries": "yes",
        "with": '`scale_embedding=True`, `activation_function="relu"`',
        "carried": carried,
        "default": probe.difference(ours, *call(plain)),
        "notes": [
            "The weights go over in another order of d_model, in which Marian's own table of "
            "positions is the paper's: after `save_pretrained` and `from_pretrained` logits are "
            f"still within {probe.difference(ours, *call(again))['logits']:.0e} of ours. A table "
            "that is put in its place would not be saved."
        ],
    }


def _true(theirs: MarianMTModel) -> str:
    attention = theirs.model.encoder

    def attend(keys: Tensor, mask: Tensor) -> Tensor:
        return attention(inputs_embeds=keys, attention_mask=mask).last_hidden_state

    return probe.true_like(attend)


def _search() -> str:
    """Search as `generate` does by default, but for the width."""
    own = searches.translator()
    with TemporaryDirectory() as folder:
        export_marian(own.model, own.codec, folder)
        theirs = MarianMTModel.from_pretrained(folder).eval()
    words, scores = [], []
    for batch in searches.batches():
        out = theirs.generate(
            input_ids=batch,
            attention_mask=(batch != PAD_ID).long(),
            num_beams=searches.BEAM,
            max_new_tokens=searches.LIMIT,
            return_dict_in_generate=True,
            output_scores=True,
        )
        rows = ([*row[1:], EOS_ID] for row in out.sequences.tolist())
        words += [row[: row.index(EOS_ID)] for row in rows]
        scores += out.sequences_scores.tolist()
    plain = theirs.generation_config.length_penalty
    penalty = 1.0 if plain is None else plain
    return (
        f"length penalty {penalty:g}: Σ log p / length, where the length counts "
        f"{searches.length_like(words, scores, penalty)}; {searches.rule_like(words)}"
    )
