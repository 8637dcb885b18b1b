#!/usr/bin/env bash
# A padding id of 0 is padding for a greedy search, and none for a beam search.
#
# Versions: transformers 5.23.0, torch 2.13.0 (CPU), Python 3.11.
# `generate` fills the rest of a finished row with pad_token_id. Where that id is 0, as it is for T5 and
# BERT, a beam search fills with the end token instead; whoever counts end tokens, or masks by the
# padding id, sees other outputs with num_beams=1 than with num_beams=3.
# Guess before the run: the same padding in both, since both read the same configuration.
# Why: the beam's filler is `pad_token_id or eos_token_id[0]`, and 0 is false.
# Seen, with padding 0 and end 2, after the end of the shorter of two outputs:
#   greedy: [0, 0, 0, 0]   beam: [2, 2, 2, 2]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet transformers==5.23.0 torch==2.13.0
"$folder/venv/bin/python" - <<'PYTHON'
import torch
from transformers import LogitsProcessor, MarianConfig, MarianMTModel

PAD, START, END = 0, 1, 2
config = MarianConfig(
    vocab_size=12, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
    decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, pad_token_id=PAD,
    bos_token_id=START, eos_token_id=END, decoder_start_token_id=START, forced_eos_token_id=None,
)
model = MarianMTModel(config).eval()


class FirstEndsAtOnce(LogitsProcessor):
    """The first sentence ends after one word, the second after five."""

    def __call__(self, input_ids, scores):
        ends = torch.tensor([input_ids.shape[1] > 1, input_ids.shape[1] > 5])
        ends = ends.repeat_interleave(len(scores) // 2)[:, None]
        is_end = torch.arange(scores.shape[1]) == END
        return scores.masked_fill(ends != is_end, float("-inf"))


def first_row(beams):
    source = torch.full((2, 3), 5)
    out = model.generate(
        input_ids=source, attention_mask=torch.ones_like(source), num_beams=beams,
        max_new_tokens=8, logits_processor=[FirstEndsAtOnce()],
    )
    row = out[0].tolist()
    return row[row.index(END) + 1 :]


greedy, beam = first_row(1), first_row(3)
print(f"greedy: {greedy}   beam: {beam}")
raise SystemExit((greedy, beam) != ([PAD] * 4, [END] * 4))
PYTHON
