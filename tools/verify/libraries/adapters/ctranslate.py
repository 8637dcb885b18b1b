"""CTranslate2: an engine for the paper's model; it has no training, and its model is a file."""

from inspect import signature
from tempfile import TemporaryDirectory
from typing import Any

import ctranslate2
from ctranslate2.specs import TransformerSpec
from tools.verify.libraries import probe, searches

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.data.codec import TextCodec
from transformer.engines import export_ctranslate2, tokens_of
from transformer.model import Transformer


def carry(ours: Transformer, codec: TextCodec) -> ctranslate2.Translator:
    with TemporaryDirectory() as folder:
        export_ctranslate2(ours, codec, folder)
        return ctranslate2.Translator(folder, compute_type="float32", intra_threads=1)


def measure() -> dict[str, Any]:
    """Return the row."""
    made, defaults = TransformerSpec.from_config(2, 4), signature(TransformerSpec.from_config)
    ends = {bool(getattr(stack, "layer_norm", None)) for stack in (made.encoder, made.decoder)}
    pre = defaults.parameters["pre_norm"].default
    return {
        "facts": {
            "norm": "pre" if pre else "post",
            "last_norm": " or ".join(probe.YES[end] for end in sorted(ends)),
            "scale": probe.YES[bool(made.encoder.scale_embeddings)],
            "positions": "the table is part of the file",
            "biases": "as in the file",
            "activation": defaults.parameters["activation"].default.name.replace("RELU", "ReLU"),
            "dropout": "none, it only translates",
            "tie": "the matrix is written for each place",
            "true": "no masks: it takes words, and pads itself",
            "search": _search(1.0),
        },
        "carries": "yes",
        "with": "`export_ctranslate2` of this package",
        "carried": {"log_probs": _difference()},
        "default": {},
        "notes": [
            "Defaults of the model are those of `TransformerSpec.from_config`.",
            f"With `length_penalty=0` a search {_search(0.0).rpartition('; ')[2]}.",
        ],
    }


def _difference() -> float:
    """Return the largest difference of the log-probabilities of two targets."""
    ours = probe.paper_model()
    codec = probe.codec()
    theirs, tokens = carry(ours, codec), tokens_of(codec)
    sources = [[i for i in row if i not in (PAD_ID, EOS_ID)] for row in probe.SOURCE.tolist()]
    targets = [[i for i in row if i not in (PAD_ID, BOS_ID)] for row in probe.TARGET.tolist()]
    named = [[[tokens[i] for i in row] for row in rows] for rows in (sources, targets)]
    found = theirs.score_batch(*named)
    wanted = (
        searches.log_probs(ours, [*source, EOS_ID], target)
        for source, target in zip(sources, targets, strict=True)
    )
    both = zip(found, wanted, strict=True)
    return float(
        f"{max(abs(a - b) for f, w in both for a, b in zip(f.log_probs, w, strict=True)):.1e}"
    )


def _search(penalty: float) -> str:
    """Search as it does by default, but for the width and what we never write."""
    own = searches.translator()
    theirs, tokens = carry(own.model, own.codec), tokens_of(own.codec)
    ids = {token: number for number, token in enumerate(tokens)}
    found = theirs.translate_batch(
        [[tokens[i] for i in row[:-1]] for row in searches.sources()],
        beam_size=searches.BEAM,
        length_penalty=penalty,
        max_decoding_length=searches.LIMIT,
        min_decoding_length=0,
        suppress_sequences=[[tokens[PAD_ID]], [tokens[BOS_ID]]],
        return_scores=True,
    )
    words = [[ids[word] for word in result.hypotheses[0]] for result in found]
    scores = [result.scores[0] for result in found]
    asked = ctranslate2.Translator.translate_batch.__doc__
    default = asked.partition("length_penalty: float = ")[2].partition(",")[0]
    alpha = None if penalty else 0.0
    return (
        f"length penalty {default}: Σ log p / length, where the length counts "
        f"{searches.length_like(words, scores, penalty)}; {searches.rule_like(words, alpha)}"
    )
