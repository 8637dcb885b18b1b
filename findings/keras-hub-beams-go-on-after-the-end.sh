#!/usr/bin/env bash
# A beam that has written the stop token goes on, and pays for what it writes after it.
#
# Versions: keras 3.15.1, keras-hub 0.32.0, on TensorFlow as keras-hub brings it, Python 3.11.
# `BeamSampler` keeps no finished hypotheses: until every beam holds a stop token, what the model would
# write after one counts in that beam's probability, and the beam may lose by it.
# Guess before the run: "stop", which has probability 0.6 and stands in the beam after one step.
# Why: `stop_token_ids` decides when the loop ends, and is no part of the scores.
# Seen, with four equally probable words after "stop", so that 0.6 becomes 0.15:
#   best: ['a', 'stop'], probability 0.40
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet keras==3.15.1 keras-hub==0.32.0
KERAS_BACKEND=tensorflow TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" - <<'PYTHON'
import math

import keras_hub
import numpy as np

WORDS = ["start", "stop", "a", "b"]
AFTER = {  # the probability of each word after a word
    "start": [0.0, 0.6, 0.4, 0.0],
    "stop": [0.25, 0.25, 0.25, 0.25],
    "a": [0.0, 1.0, 0.0, 0.0],
    "b": [0.25, 0.25, 0.25, 0.25],
}
LOGITS = np.log(np.maximum([AFTER[word] for word in WORDS], 1e-30)).astype("float32")


def following(prompt, cache, index):
    return LOGITS[np.asarray(prompt)[:, int(index) - 1]], None, cache


prompt = np.zeros((1, 3), dtype="int32")  # "start", and room for two words
given = np.array([[True, False, False]])
sampler = keras_hub.samplers.BeamSampler(num_beams=2, return_all_beams=True)
found, scores = sampler(following, prompt, index=1, mask=given, stop_token_ids=[1])
best = [WORDS[i] for i in np.asarray(found)[0, 0, 1:]]
probability = math.exp(float(np.asarray(scores)[0, 0]))
print(f"best: {best}, probability {probability:.2f}")
raise SystemExit(best != ["a", "stop"] or abs(probability - 0.4) > 1e-3)
PYTHON
