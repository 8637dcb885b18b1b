#!/usr/bin/env bash
# A second reference can lower BLEU, though every n-gram that matched still matches.
#
# Versions: sacrebleu 2.6.0, Python 3.11.
# With several references BLEU counts a match with any of them, so the precisions can only rise. The
# brevity penalty compares with the reference whose length is *nearest*. An output of 10 words beside a
# reference of 7 pays nothing. Add a reference of 11 words that shares no word with it: it is nearer, the
# output is now "too short", and the score falls from 63.9 to 57.8 with all four precisions unchanged.
# Guess before the run: one more reference never lowers the score.
# Seen:
#   one reference   63.89  precisions 70.0 66.7 62.5 57.1  penalty 1.000
#   two references  57.81  precisions 70.0 66.7 62.5 57.1  penalty 0.905
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sacrebleu==2.6.0
"$folder/venv/bin/python" - <<'PYTHON'
from sacrebleu import corpus_bleu

output = ["a small dog runs over the green grass right now"]
first = ["a small dog runs over the green"]
second = ["on this meadow one can see an animal that is playing"]
scores = []
for name, references in (("one reference ", [first]), ("two references", [first, second])):
    found = corpus_bleu(output, references, tokenize="none")
    scores.append(found)
    precisions = " ".join(f"{p:.1f}" for p in found.precisions)
    print(f"{name}  {found.score:.2f}  precisions {precisions}  penalty {found.bp:.3f}")
one, two = scores
assert two.precisions == one.precisions and two.score < one.score - 6
PYTHON
