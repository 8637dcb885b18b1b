#!/usr/bin/env bash
# The translation edit rate of an output that says nothing is 0, the best there is.
#
# Versions: torchmetrics 1.9.0 beside sacrebleu 2.6.0, torch 2.13.0 (CPU), Python 3.11.
# TER is the number of edits that turn outputs into their references, by words of the references. Where an
# output is empty every word of its reference is missing. torchmetrics counts the words and no edit, as if
# the line were all right. So a model that stays silent where it is unsure has a better TER than one that
# tries, and one that never says anything has 0.
# Guess before the run: both libraries agree, since the one tests itself against the other.
# Why: output and reference are handed on in the other order, and "no edits where the reference is empty"
# meets the output.
# Seen, each output against "a dog sleeps here", after a first line that is all right:
#   output             torchmetrics  sacrebleu
#   a dog sleeps now            0.1        0.1
#   a cat                       0.3        0.3
#   (empty)                     0.0        0.4
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy torchmetrics==1.9.0 sacrebleu==2.6.0
"$folder/venv/bin/python" - <<'PYTHON'
from sacrebleu.metrics import TER
from torchmetrics.functional.text import translation_edit_rate

right = "the cat sat on the mat"
wanted = "a dog sleeps here"
rates = []
for output in ("a dog sleeps now", "a cat", ""):
    theirs = translation_edit_rate([right, output], [[right], [wanted]]).item()
    other = TER().corpus_score([right, output], [[right, wanted]]).score / 100
    rates.append((theirs, other))
    print(f"{output or '(empty)':18s} {theirs:12.1f} {other:10.1f}")
assert all(abs(theirs - other) < 1e-6 for theirs, other in rates[:2]), rates
assert rates[2][0] == 0 and abs(rates[2][1] - 0.4) < 1e-6, rates
PYTHON
