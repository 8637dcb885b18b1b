#!/usr/bin/env bash
# A rule against copying the source keeps an output from ending.
#
# Versions: transformers 5.24.0, torch 2.13.0 (CPU), Python 3.11.
# `encoder_no_repeat_ngram_size=2` forbids pairs of words that stand in the source. The source ends with the
# end token, as tokenizers write it, so (last word, end) is such a pair: an output that has written the
# source's last word, a name for instance, may not end behind it, however sure the model is. It goes on with
# whatever comes second. With size 1 no output can end at all.
# Guess before the run: the end token is no word of the source, and outputs end where they did.
# Seen, of a model that always wants to end (2), then 4, and is told to begin with 7; the source is 5 7 2:
#   without the rule  2 7 2
#   with size 2       2 7 4 2
#   with size 1       2 7 4 4 4 4 4
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet transformers==5.24.0 torch==2.13.0
"$folder/venv/bin/python" - <<'PYTHON'
import torch
from transformers import BartConfig, BartForConditionalGeneration

END, FOUR, SEVEN = 2, 4, 7
sizes = {
    f"{side}_{name}": size
    for side in ("encoder", "decoder")
    for name, size in (("layers", 1), ("attention_heads", 2), ("ffn_dim", 16))
}
config = BartConfig(vocab_size=12, d_model=16, **sizes, forced_eos_token_id=None)
model = BartForConditionalGeneration(config).eval()
with torch.no_grad():
    model.model.shared.weight.zero_()  # so that its bias is all that it says
    model.final_logits_bias[0, END] = 2.0
    model.final_logits_bias[0, FOUR] = 1.0
source, found = torch.tensor([[5, SEVEN, END]]), []
for name, options in (
    ("without the rule", {}),
    ("with size 2     ", {"encoder_no_repeat_ngram_size": 2}),
    ("with size 1     ", {"encoder_no_repeat_ngram_size": 1}),
):
    options = {"max_new_tokens": 6, "do_sample": False, "forced_bos_token_id": SEVEN, **options}
    found.append(model.generate(source, **options)[0].tolist())
    print(name, *found[-1])
assert found == [[2, 7, 2], [2, 7, 4, 2], [2, 7, 4, 4, 4, 4, 4]], found
PYTHON
