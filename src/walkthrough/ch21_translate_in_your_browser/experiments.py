"""The experiments of chapter 21: the exported files at work, and weights with fewer bits."""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from phrasebook import Example
from phrasebook.codec import PhrasebookCodec
from transformer.config import BOS_ID, EOS_ID, PAD_ID, TransformerConfig
from transformer.export import DECODER_FILE, ENCODER_FILE, empty_past
from transformer.inference import greedy_decode
from transformer.model import Transformer

Past = tuple[NDArray[Any], NDArray[Any]]


class ExportedTranslator:
    """The two exported files, for one sentence: torch is not asked any more."""

    def __init__(self, folder: Path, config: TransformerConfig) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._encoder, self._decoder = (
            onnxruntime.InferenceSession(folder / file, options)
            for file in (ENCODER_FILE, DECODER_FILE)
        )
        keys, values = empty_past(config, batch=1)
        self._nothing = (keys.numpy(), values.numpy())

    def read(self, ids: Sequence[int]) -> None:
        """Encode a sentence; the steps that follow are about it."""
        self._source = np.array([[*ids, EOS_ID]])
        self._memory, _ = self._encoder.run(None, {"source": self._source})

    def step(self, token: int, past: Past | None) -> tuple[Tensor, Past]:
        """Return the logits after `token`, and what the next step needs; at first no past."""
        logits, keys, values, _, _ = self._run(token, past)
        return torch.from_numpy(logits[0]), (keys, values)

    def cross_attention(
        self, tokens: Sequence[int]
    ) -> Float[Tensor, "layers heads target_len source_len"]:
        """Return the encoder–decoder weights after the start token and each of `tokens`."""
        past, rows = None, []
        for token in (BOS_ID, *tokens):
            _, keys, values, _, cross = self._run(token, past)
            past = (keys, values)
            rows.append(torch.from_numpy(cross[:, 0]))
        return torch.cat(rows, dim=2)

    def _run(self, token: int, past: Past | None) -> list[NDArray[Any]]:
        keys, values = self._nothing if past is None else past
        given = {
            "source": self._source,
            "memory": self._memory,
            "token": np.array([[token]]),
            "past_keys": keys,
            "past_values": values,
        }
        return self._decoder.run(None, given)


def largest_difference(
    exported: ExportedTranslator, model: Transformer, pairs: Sequence[tuple[list[int], list[int]]]
) -> float:
    """Return the largest difference between a logit of the files and one of the model."""
    largest = 0.0
    for source, target in pairs:
        exported.read(source)
        read = [BOS_ID, *target]
        with torch.inference_mode():
            wanted = model(torch.tensor([[*source, EOS_ID]]), torch.tensor([read]))[0]
        past = None
        for token, row in zip(read, wanted, strict=True):
            logits, past = exported.step(token, past)
            largest = max(largest, float((logits - row).abs().max()))
    return largest


def rounded_to(model: Transformer, bits: int) -> Transformer:
    """Return a copy whose matrices hold 2^bits − 1 values each, evenly spaced around 0.

    Vectors (biases and the norms' weights) stay as they are: there are few of them.
    """
    smaller = copy.deepcopy(model)
    steps = 2 ** (bits - 1) - 1
    with torch.no_grad():
        for parameter in smaller.parameters():
            if parameter.dim() == 2:
                unit = parameter.abs().max() / steps
                parameter.copy_((parameter / unit).round() * unit)
    return smaller


def exact_share(model: Transformer, codec: PhrasebookCodec, examples: Sequence[Example]) -> float:
    """Return the share of examples that the model translates exactly, with greedy decoding."""
    rows = [torch.tensor([*codec.encode(e.source_text), EOS_ID]) for e in examples]
    batch = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)
    outputs = greedy_decode(model, batch)
    right = [codec.decode(o) == e.target_text for o, e in zip(outputs, examples, strict=True)]
    return sum(right) / len(right)


def matrix_products(path: Path, sizes: Mapping[str, int]) -> list[tuple[list[int], list[int]]]:
    """Return the two shapes of every matrix product of a graph, for sizes given by name.

    The products are MatMul and Gemm; the shapes are those that onnx infers.
    """
    import onnx

    graph = onnx.shape_inference.infer_shapes(onnx.load(path)).graph
    shapes = {t.name: list(t.dims) for t in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        dims = value.type.tensor_type.shape.dim
        shapes[value.name] = [sizes.get(d.dim_param, d.dim_value) for d in dims]
    products = []
    for node in graph.node:
        if node.op_type not in ("MatMul", "Gemm"):
            continue
        left, right = (shapes[name] for name in node.input[:2])
        turned = any(a.name == "transB" and a.i for a in node.attribute)
        products.append((left, right[::-1] if turned else right))
    return products
