#!/usr/bin/env bash
# The same two references in the other order give another BLEU.
#
# Versions: torchmetrics 1.9.0 beside sacrebleu 2.6.0, torch 2.13.0 (CPU), Python 3.11.
# BLEU compares an output's length with the nearest reference's. Where two are equally near, one a word
# shorter and one a word longer, the shorter counts, and nothing is paid. torchmetrics takes the one that
# stands first: with the longer one in front the output is "too short" and pays for it, all n-grams alike.
# Guess before the run: references are a set; their order is no part of the definition.
# Why: the nearest length is looked up with the index of the first minimum.
# Seen, of an output of seven words, references of six and eight:
#   order               torchmetrics  sacrebleu
#   shorter one first          1.000      1.000
#   longer one first           0.867      1.000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy torchmetrics==1.9.0 sacrebleu==2.6.0
"$folder/venv/bin/python" - <<'PYTHON'
from sacrebleu.metrics import BLEU
from torchmetrics.functional.text import sacre_bleu_score

output = "the cat sat on the mat today"
shorter = "the cat sat on the mat"
longer = "the cat sat on the mat today now"
scores = []
for name, references in (("shorter", [shorter, longer]), ("longer", [longer, shorter])):
    theirs = sacre_bleu_score([output], [references]).item()
    other = BLEU().corpus_score([output], [[line] for line in references]).score / 100
    scores += [theirs, other]
    print(f"{name + ' one first':18s} {theirs:13.3f} {other:10.3f}")
assert [round(score, 3) for score in scores] == [1.0, 1.0, 0.867, 1.0], scores
PYTHON
