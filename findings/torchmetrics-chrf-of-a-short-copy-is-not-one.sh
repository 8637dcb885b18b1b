#!/usr/bin/env bash
# An output that is its reference, letter for letter, has a chrF of one half.
#
# Versions: torchmetrics 1.9.0 beside sacrebleu 2.6.0, torch 2.13.0 (CPU), Python 3.11.
# chrF is the mean over n-grams of 1 to 6 letters. A line of three letters has none of 4, 5 or 6. sacrebleu
# takes the mean over what there is; torchmetrics counts what is not there as missed. So "yes" for "yes"
# has 3 of 6. In a corpus it matters where sentences are scored one by one, to be averaged or compared.
# Guess before the run: what equals its reference has 1, in every measure of overlap.
# Why: a sum over all six orders is divided by six, whether an order has n-grams or not.
# Seen:
#   output and reference  torchmetrics  sacrebleu
#   yes                          0.500      1.000
#   oui                          0.500      1.000
#   thank you                    1.000      1.000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy torchmetrics==1.9.0 sacrebleu==2.6.0
"$folder/venv/bin/python" - <<'PYTHON'
from sacrebleu.metrics import CHRF
from torchmetrics.functional.text import chrf_score

scores = []
for line in ("yes", "oui", "thank you"):
    theirs = chrf_score([line], [[line]], n_word_order=0).item()
    other = CHRF().corpus_score([line], [[line]]).score / 100
    scores += [theirs, other]
    print(f"{line:20s} {theirs:13.3f} {other:10.3f}")
assert [round(score, 3) for score in scores] == [0.5, 1.0, 0.5, 1.0, 1.0, 1.0], scores
PYTHON
