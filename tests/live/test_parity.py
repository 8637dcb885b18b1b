"""Torch and the browser's own scripts, in node, give the same tokens and the same numbers."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from transformer.config import PAD_ID
from transformer.data.phrasebook import phrasebook
from transformer.inference import beam_search, greedy_decode
from walkthrough.ch21_translate_in_your_browser.bundle import MAX_SOURCE
from walkthrough.ch21_translate_in_your_browser.translator import (
    load_translator,
    source_ids,
    target_ids,
)

HERE = Path(__file__).parent
TOLERANCE = 1e-4
N_SENTENCES = 200

pytestmark = pytest.mark.usefixtures("live_translator")


def reference(folder: Path) -> Path:
    """Decode the sentences with torch, and write what came out."""
    model, codec = load_translator()
    splits = phrasebook().splits()
    half = N_SENTENCES // 2
    examples = [*splits["test_sentences"][:half], *splits["test_combinations"][:half]]
    assert all(len(example.source) <= MAX_SOURCE for example in examples)
    sources = [source_ids(codec, example.source_text)[0] for example in examples]
    batch = torch.nn.utils.rnn.pad_sequence(sources, batch_first=True, padding_value=PAD_ID)
    decoded = zip(greedy_decode(model, batch), beam_search(model, batch), strict=True)
    cases, logits = [], []
    for example, source, (greedy, (best,)) in zip(examples, sources, decoded, strict=True):
        with torch.inference_mode():
            logits.append(model(source[None], target_ids(greedy))[0].numpy())
        cases.append(
            {
                "text": example.source_text,
                "greedy": greedy,
                "text_out": codec.decode(greedy),
                "beam": best.tokens,
                "score": best.score,
            }
        )
    path = folder / "reference"
    path.with_suffix(".json").write_text(json.dumps(cases), encoding="utf-8")
    path.with_suffix(".f32").write_bytes(np.concatenate(logits).astype("<f4").tobytes())
    return path


@pytest.mark.slow
def test_two_hundred_sentences_give_the_same_tokens_and_logits(tmp_path):
    node = shutil.which("node", path=Path(sys.executable).parent) or "node"
    done = subprocess.run(
        [node, HERE / "parity.js", reference(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["sentences"] == N_SENTENCES
    assert report["different"] == []
    assert report["logits"] * 4 == (tmp_path / "reference.f32").stat().st_size
    assert report["largest"] < TOLERANCE
    assert report["score"] < TOLERANCE
