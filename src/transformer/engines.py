"""The model as another engine reads it, CTranslate2 here and Marian in `transformer.marian`.

Both hold the paper's model (§3). They translate as this package does once their search keeps
our rules: no padding, no second start token, no length penalty of theirs.
"""

from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID, TransformerConfig
from transformer.data.codec import OneVocabulary, TextCodec
from transformer.inference.beam import Hypothesis, length_penalty
from transformer.inference.greedy import EXTRA_TOKENS, output_limits
from transformer.inference.translate import Decoding
from transformer.model import Transformer
from transformer.positional import LearnedEncoding, sinusoidal_encoding

FREE = {
    *("vocab_size", "d_model", "n_heads", "n_layers", "d_ff", "max_len", "positions"),
    *("dropout", "attention_dropout", "residual_init"),
    *("activation", "output_bias", "scale_embeddings"),
}
"""What may differ from the paper's base model; of `positions`, "none" may not."""


def export_ctranslate2(model: Transformer, codec: TextCodec, folder: str | Path) -> list[Path]:
    """Write a folder that `ctranslate2.Translator` reads, in float32.

    Raises:
        ValueError: CTranslate2 cannot hold the model; see `check_portable`.
        ModuleNotFoundError: CTranslate2 is not installed.
    """
    check_ctranslate2()
    check_portable(model.config, codec)
    from ctranslate2.specs import TransformerSpec
    from ctranslate2.specs.common_spec import Activation

    config = model.config
    activation = Activation[config.activation.upper()]
    sizes = config.n_layers, config.n_heads
    spec = TransformerSpec.from_config(*sizes, pre_norm=False, activation=activation)
    embedding = _array(model.output_weight)
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = embedding
    spec.decoder.projection.weight = embedding
    if model.output_bias is not None:
        spec.decoder.projection.bias = _array(model.output_bias)
    for theirs, ours in ((spec.encoder, model.encoder), (spec.decoder, model.decoder)):
        theirs.scale_embeddings = config.scale_embeddings
        theirs.position_encodings.encodings = _array(_positions(model))
        for copy, layer in zip(theirs.layer, ours.layers, strict=True):
            _copy_layer(copy, layer)
    tokens = tokens_of(codec)
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.unk_token, spec.config.bos_token = tokens[UNK_ID], tokens[BOS_ID]
    spec.config.eos_token, spec.config.decoder_start_token = tokens[EOS_ID], tokens[BOS_ID]
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = config.layer_norm_eps
    spec.validate()
    spec.optimize()
    Path(folder).mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))
    return sorted(Path(folder) / n for n in ("config.json", "model.bin", "shared_vocabulary.json"))


class CTranslate2:
    """CTranslate2's search in the place of ours: `Translator(model, codec, search=…)`.

    Outputs are the same, greedily and by a beam, which ends by the rule that `early_stopping` asks
    for. Scores are a little higher: it takes padding and start token out before the softmax, this
    package after it, so that what the model gives these two is shared out among the others.
    `compute_type="int8"` computes with weights of 8 bits, which can change outputs.

    Raises:
        ValueError, ModuleNotFoundError: see `export_ctranslate2`.
    """

    def __init__(
        self, model: Transformer, codec: TextCodec, *, compute_type: str = "float32"
    ) -> None:
        with TemporaryDirectory() as folder:
            export_ctranslate2(model, codec, folder)
            import ctranslate2

            self.engine = ctranslate2.Translator(
                folder,
                device=model.output_weight.device.type,
                compute_type=compute_type,
                intra_threads=torch.get_num_threads(),
            )
        self.config, self.tokens = model.config, tokens_of(codec)
        self.ids = {token: number for number, token in enumerate(self.tokens)}

    def __call__(self, source: Tensor, decoding: Decoding) -> list[list[Hypothesis]]:
        """Return the n best of each row, as `beam_search` does; of a beam of 1, log P 0."""
        if decoding.constrained:
            raise ValueError("constrained decoding needs this package's own search")
        rows = [
            [token for token in ids if token not in (PAD_ID, EOS_ID)] for ids in source.tolist()
        ]
        # Without a penalty of its own it ends when nothing open has a higher log P. With one, ever
        # so small, it ends when `patience` times the beam are finished: twice the beam where α
        # lets what is open win by its length.
        late = not decoding.early_stopping and decoding.beam > 1
        patience = 2 if late and decoding.alpha != 0 else 1
        asked = (decoding.max_len, decoding.extra_tokens, self.config)
        limits = output_limits(source, *asked).tolist()
        results = self.engine.translate_batch(
            [[self.tokens[token] for token in ids] for ids in rows],
            beam_size=decoding.beam,
            num_hypotheses=decoding.beam * patience,
            length_penalty=0 if late and decoding.alpha == 0 else 1e-9,
            patience=patience,
            min_decoding_length=0,  # an empty output is an output
            return_scores=decoding.beam > 1,
            max_input_length=0,
            max_decoding_length=max(max(limits) - 1, 1),
            suppress_sequences=[[self.tokens[PAD_ID]], [self.tokens[BOS_ID]]],
        )
        return [
            self._ranked(result, limit, decoding)
            for result, limit in zip(results, limits, strict=True)
        ]

    def _ranked(self, result: Any, limit: int, decoding: Decoding) -> list[Hypothesis]:
        hypotheses = []
        for place, words in enumerate(result.hypotheses):
            tokens = [self.ids[word] for word in words][: limit - 1]
            log_prob = result.scores[place] if result.scores else 0.0
            score = log_prob / length_penalty(len(tokens) + 1, decoding.alpha)
            hypotheses.append(Hypothesis(tokens=tokens, log_prob=log_prob, score=score))
        return sorted(hypotheses, key=lambda h: -h.score)[: decoding.n_best]


def check_ctranslate2() -> None:
    """Raise ModuleNotFoundError unless CTranslate2 is installed."""
    if find_spec("ctranslate2") is None:
        raise ModuleNotFoundError("the engine is not installed: pip install ctranslate2")


def check_portable(config: TransformerConfig, codec: TextCodec) -> None:
    """Raise ValueError unless the engines can hold the model: the paper's, of text to text."""
    if not isinstance(codec, OneVocabulary):
        raise ValueError("other engines take models of text; this one writes trees")
    paper = TransformerConfig(**{name: getattr(config, name) for name in FREE})
    wrong = [f.name for f in fields(config) if getattr(config, f.name) != getattr(paper, f.name)]
    if config.positions == "none":
        wrong.append("positions")
    if wrong:
        told = ", ".join(f"{name} = {getattr(config, name)}" for name in wrong)
        raise ValueError(f"other engines hold the paper's model; this one has {told}")


def tokens_of(codec: TextCodec) -> list[str]:
    """Return every token of a codec of text, in the order of their ids."""
    if isinstance(codec, OneVocabulary):
        return list(codec.tokens)
    raise ValueError("a model of trees has two vocabularies")


def n_positions(config: TransformerConfig) -> int:
    """Return how many positions another engine gets a table of.

    Here sinusoidal positions go on without an end; there, a longer sentence is an error. So
    `max_len` is not the end where the longest line that `translate` takes by default needs more.
    """
    longest = Decoding().max_source + 1 + EXTRA_TOKENS
    return config.max_len if config.positions == "learned" else max(config.max_len, longest)


def _positions(model: Transformer) -> Tensor:
    if isinstance(model.positions, LearnedEncoding):
        return model.positions.weight
    return sinusoidal_encoding(n_positions(model.config), model.config.d_model)


def _copy_layer(copy: Any, layer: Any) -> None:
    attentions = [(copy.self_attention, layer.self_attention)]
    if hasattr(layer, "cross_attention"):
        attentions.append((copy.attention, layer.cross_attention))
    for theirs, ours in attentions:
        _copy_attention(theirs, ours)
    _copy(copy.ffn.linear_0, layer.feed_forward.expand)
    _copy(copy.ffn.linear_1, layer.feed_forward.contract)
    norms = [theirs.layer_norm for theirs, _ in attentions] + [copy.ffn.layer_norm]
    for theirs, residual in zip(norms, layer.residuals, strict=True):
        theirs.gamma = _array(residual.layer_norm.weight)
        theirs.beta = _array(residual.layer_norm.bias)


def _copy_attention(copy: Any, attention: MultiHeadAttention) -> None:
    projections = [attention.query_proj, attention.key_proj, attention.value_proj]
    # One product for query, key and value; of the source's keys and values, one of their own.
    first = 3 if len(copy.linear) == 2 else 1
    _copy(copy.linear[0], *projections[:first])
    if first == 1:
        _copy(copy.linear[1], *projections[1:])
    _copy(copy.linear[-1], attention.output_proj)


def _copy(copy: Any, *products: nn.Linear) -> None:
    copy.weight = _array(torch.cat([product.weight for product in products]))
    copy.bias = _array(torch.cat([product.bias for product in products]))


def _array(tensor: Tensor) -> Any:
    return tensor.detach().cpu().numpy()
