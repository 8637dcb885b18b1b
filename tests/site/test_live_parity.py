"""Torch, onnxruntime and the browser give the same tokens and numbers for 200 sentences."""

import base64
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jaxtyping
import numpy as np
import onnxruntime
import pytest
import torch
from browsing import promised
from live_page import WEB, loaded, write_page
from numpy.typing import NDArray

from phrasebook import phrasebook
from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.export import empty_past
from transformer.inference import Hypothesis, beam_search, greedy_decode
from walkthrough.ch21_translate_in_your_browser.bundle import MAX_SOURCE, WEIGHTS_FILE, widened
from walkthrough.ch21_translate_in_your_browser.translator import load_translator, source_ids

BUNDLE = WEB / "vendor" / "live"
TOLERANCE = 1e-4
N_SENTENCES = 200
SOME = slice(None, None, 10)  # sentences for beam search and the laboratory
PARITY = Path(__file__).with_name("parity.js")

pytestmark = [pytest.mark.site, pytest.mark.usefixtures("live_translator")]


@dataclass(frozen=True)
class Reference:
    """What torch makes of the sentences, all in one batch."""

    texts: list[str]
    source: torch.Tensor
    tokens: list[list[int]]
    beams: list[Hypothesis]
    written: list[str]
    logits: list[NDArray[np.float32]]
    """Of each sentence the rows after the start token and after each of its tokens."""

    @property
    def target(self) -> torch.Tensor:
        """What the decoder reads: the start token and the translation, padded."""
        rows = [torch.tensor([BOS_ID, *tokens]) for tokens in self.tokens]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    """Torch's answers; the shapes in signatures, enforced, would make them ten times slower."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield decoded_by_torch()
    jaxtyping.config.update("jaxtyping_disable", False)


def decoded_by_torch() -> Reference:
    model, codec = load_translator()
    splits = phrasebook().splits()
    half = N_SENTENCES // 2
    examples = [*splits["test_sentences"][:half], *splits["test_combinations"][:half]]
    assert all(len(example.source) <= MAX_SOURCE for example in examples)
    texts = [example.source_text for example in examples]
    rows = [source_ids(codec, text)[0] for text in texts]
    source = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)
    tokens = greedy_decode(model, source)
    beams = [best for (best,) in beam_search(model, source[SOME])]
    written = [codec.decode(ids) for ids in tokens]
    found = Reference(texts, source, tokens, beams, written, [])
    with torch.inference_mode():
        logits = model(source, found.target).numpy()
    found.logits.extend(rows[: len(ids) + 1] for rows, ids in zip(logits, tokens, strict=True))
    return found


def largest_difference(found: NDArray[np.float32], reference: Reference) -> float:
    """Between logits of all sentences, step after step, and torch's."""
    expected = np.concatenate(reference.logits).reshape(-1)
    assert found.shape == expected.shape, "not as many steps"
    return float(np.abs(found - expected).max())


def unpacked(name: str) -> bytes:
    """A file of the bundle, from the scripts that the page loads."""
    parts = {}
    for path in BUNDLE.glob(f"{name}.*.js"):
        match = re.fullmatch(r'live\.receive\(".*", (\d+), \d+, "(.*)"\);\n', path.read_text())
        assert match, path
        parts[int(match[1])] = match[2]
    return gzip.decompress(base64.b64decode("".join(parts[i] for i in sorted(parts))))


def test_onnxruntime_gives_torchs_tokens_and_logits(reference, tmp_path):
    (tmp_path / WEIGHTS_FILE).write_bytes(
        widened(np.frombuffer(unpacked("weights.f16"), np.float16))
    )
    sessions = {}
    for name in ("encoder", "decoder-step"):
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(unpacked(path.name))
        sessions[name] = onnxruntime.InferenceSession(path)
    source, target = reference.source.numpy(), reference.target.numpy()
    memory, _ = sessions["encoder"].run(None, {"source": source})
    model, _ = load_translator()
    keys, values = (past.numpy() for past in empty_past(model.config, batch=len(source)))
    steps = []
    for token in target.T[:, :, None]:
        given = {"token": token, "past_keys": keys, "past_values": values}
        logits, keys, values, *_ = sessions["decoder-step"].run(
            None, {"source": source, "memory": memory, **given}
        )
        steps.append(logits)
    rows_of_steps = np.stack(steps, axis=1)
    found = [
        rows[: len(ids) + 1] for rows, ids in zip(rows_of_steps, reference.tokens, strict=True)
    ]
    assert largest_difference(np.concatenate(found).reshape(-1), reference) < TOLERANCE
    for rows, ids in zip(found, reference.tokens, strict=True):
        rows[:, [PAD_ID, BOS_ID]] = -np.inf
        assert rows.argmax(1).tolist() == [*ids, EOS_ID]


def test_the_browser_gives_torchs_tokens_and_logits(page, reference, tmp_path):
    visit = loaded(page, write_page(tmp_path / "site").as_uri())
    page.add_script_tag(content=PARITY.read_text())
    found = promised(page, f"() => decodeAll({json.dumps(reference.texts)})")
    assert found["greedy"] == reference.tokens
    assert found["written"] == reference.written
    assert found["laboratory"] == reference.tokens[SOME]
    assert [one["tokens"] for one in found["beam"]] == [one.tokens for one in reference.beams]
    for one, best in zip(found["beam"], reference.beams, strict=True):
        assert one["score"] == pytest.approx(best.score, abs=TOLERANCE)
    model, _ = load_translator()
    maps = model.attention(*(rows[:1] for rows in (reference.source, reference.target)))
    n_source, n_target = (
        len(ids) + 1 for ids in (reference.source[0].nonzero(), reference.tokens[0])
    )
    for kind, queries, keys in (
        ("encoder", n_source - 1, n_source - 1),
        ("decoder", n_target, n_target),
        ("cross", n_target, n_source - 1),
    ):
        wanted = getattr(maps, kind)[:, 0, :, :queries, :keys]
        np.testing.assert_allclose(found["maps"][kind], wanted, atol=TOLERANCE)
    logits = np.frombuffer(base64.b64decode(found["logits"]), "<f4")
    assert largest_difference(logits, reference) < TOLERANCE
    assert visit.errors == []


def test_one_wrong_number_or_a_step_too_few_is_seen(reference):
    logits = np.concatenate(reference.logits).reshape(-1)
    wrong = logits.copy()
    wrong[len(wrong) // 2] += 2 * TOLERANCE
    assert largest_difference(wrong, reference) > TOLERANCE
    with pytest.raises(AssertionError, match="not as many steps"):
        largest_difference(logits[: -len(reference.logits[0][0])], reference)
