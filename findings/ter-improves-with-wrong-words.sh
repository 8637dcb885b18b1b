#!/usr/bin/env bash
# Wrong words at the end of an output that was cut off make its TER better.
#
# Versions: sacrebleu 2.6.0, Python 3.11.
# TER is the number of edits that turn an output into its reference, by words of the reference. Of a hundred
# words an output has the first forty, all right, and ends there: sixty words are missing, sixty edits. TER
# finds 75. With sixty wrong words behind the forty right ones it finds 60. So of two outputs cut off at
# one place the one that goes on with nonsense is better, and an output that ended too early counts as if
# words were wrong that are right.
# Guess before the run: a shift can only lower the number of edits, so TER is never above the word error
# rate, 60; and no wrong word makes a score better.
# Why: edits are looked for in a band, 25 words to each side, around the straight line from both beginnings to
# both ends. Where more than 25 words are missing at one end the right path leaves the band.
# Seen:
#   words of the output          TER  edits by the textbook, of 100 words
#   40 right                      75  60
#   40 right, then 60 wrong       60  60
#   75 right                      25  25
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sacrebleu==2.6.0
"$folder/venv/bin/python" - <<'PYTHON'
from sacrebleu.metrics import TER


def edits(output, reference):
    """Return the edit distance of two lists of words."""
    row = list(range(len(reference) + 1))
    for i, word in enumerate(output, 1):
        diagonal, row[0] = row[0], i
        for j, wanted in enumerate(reference, 1):
            nearest = min(row[j] + 1, row[j - 1] + 1, diagonal + (word != wanted))
            diagonal, row[j] = row[j], nearest
    return row[-1]


reference = [f"word{n}" for n in range(100)]
found = []
for name, output in (
    ("40 right               ", reference[:40]),
    ("40 right, then 60 wrong", reference[:40] + ["wrong"] * 60),
    ("75 right               ", reference[:75]),
):
    score = TER().sentence_score(" ".join(output), [" ".join(reference)]).score
    found.append((score, edits(output, reference)))
    print(f"{name}  {score:4.0f}  {found[-1][1]}")
assert [right for _, right in found] == [60, 60, 25]
short, longer, near = (score for score, _ in found)
assert short > 70 and abs(longer - 60) < 0.01 and abs(near - 25) < 0.01, found
PYTHON
