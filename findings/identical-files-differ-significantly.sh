#!/usr/bin/env bash
# A paired test of a file with a copy of itself finds a significant difference.
#
# Versions: sacrebleu 2.6.0, Python 3.11.
# `--paired-bs` draws the sentences anew a thousand times and asks how often the drawn differences lie farther
# from their mean than the real one from 0. Between two identical files all differences are 0, none lies
# *farther*, and p is 1 / 1001: below .05, with a star. The nearer two systems come to making the same
# outputs, the surer it gets of their difference.
# Guess before the run: p = 1, no difference was ever seen.
# Why: ties are not counted; p = (number of larger ones + 1) / (number of draws + 1).
# Seen:
#   copy against file: BLEU 89.2 and 89.2, p = 0.0010
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sacrebleu==2.6.0
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from pathlib import Path

wanted = [f"line {n} is what a person wrote about {n} things" for n in range(200)]
output = [line.replace("person", "people") if n % 3 == 0 else line for n, line in enumerate(wanted)]
Path("wanted").write_text("\n".join(wanted) + "\n")
Path("file").write_text("\n".join(output) + "\n")
Path("copy").write_text("\n".join(output) + "\n")
PYTHON
venv/bin/sacrebleu wanted -i file copy -m bleu --paired-bs --format json --quiet > scores
"$folder/venv/bin/python" - <<'PYTHON'
import json
from pathlib import Path

rows = json.loads(Path("scores").read_text())
first, second = (row["BLEU"] for row in rows)
print(f"copy against file: BLEU {first['score']:.1f} and {second['score']:.1f}, "
      f"p = {second['p_value']:.4f}")
assert first["score"] == second["score"] and second["p_value"] < 0.002, rows
PYTHON
