"""A word is counted and spelled once, and every merge and id is the one that lines would give."""

import json
import os
import random
import signal
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import trainers

from transformer.data import spelling
from transformer.data import tokenizer as tokenizer_module
from transformer.data.batching import PairArrays
from transformer.data.tokenizer import SubwordTokenizer

# what some call white space and others do not, between words of several alphabets
ALPHABET = [*"abcxyz   ", *"\t\u3000\xa0\x1c\x85\u2028\u200b\r", "é", "한", "ん", "\U0001f600"]
lines = st.lists(st.text(st.sampled_from(ALPHABET), max_size=12), max_size=8)


def nasty_lines(number: int) -> list[str]:
    draw = random.Random(1)
    return ["".join(draw.choices(ALPHABET, k=draw.randint(1, 25))) for _ in range(number)]


def merges_from_lines(texts: list[str], size: int) -> list[tuple[str, str]]:
    """The merges that every record was made with: the library counts the words of whole lines."""
    backend = tokenizer_module._backend([])
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        show_progress=False,
        special_tokens=list(tokenizer_module._SPECIAL.values()),
        initial_alphabet=list(tokenizer_module._BYTE_OF_LETTER),
    )
    backend.train_from_iterator(texts, trainer)
    return [tuple(merge) for merge in json.loads(backend.to_str())["model"]["merges"]]


@pytest.mark.parametrize("size", [300, 3000])
def test_the_merges_are_those_of_whole_lines(monkeypatch, size: int) -> None:
    texts = nasty_lines(400)
    monkeypatch.setattr(spelling, "_LINES", 7)
    monkeypatch.setattr(tokenizer_module, "_REPEATS", 5)
    assert tokenizer_module._learn(iter(texts), size) == merges_from_lines(texts, size)


TOKENIZER = SubwordTokenizer.train(nasty_lines(400), n_merges=200)


@given(lines)
def test_the_ids_are_those_of_each_line(texts) -> None:
    ids, ends = TOKENIZER.encode_lines(iter(texts))
    assert (ids.dtype, ends.dtype) == (np.uint16, np.int32)
    found = [ids[start:end].tolist() for start, end in pairwise(ends)]
    assert found == [TOKENIZER.encode(text) for text in texts]


def test_words_are_forgotten_before_they_fill_the_memory(monkeypatch) -> None:
    texts = nasty_lines(60)
    expected = [array.tolist() for array in TOKENIZER.encode_lines(texts)]
    monkeypatch.setattr(spelling, "_LINES", 4)
    monkeypatch.setattr(spelling, "_WORDS", 3)
    assert [array.tolist() for array in TOKENIZER.encode_lines(texts)] == expected


def test_ids_that_take_four_bytes() -> None:
    ids, ends = spelling.spell_lines(["a b"], lambda words: [[70_000]] * len(words), largest=70_000)
    assert (ids.tolist(), ends.tolist()) == ([70_000, 70_000], [0, 2])


def test_the_pairs_are_those_of_lists() -> None:
    sources = nasty_lines(50)
    targets = sources[::-1]
    pairs = [tuple(map(TOKENIZER.encode, pair)) for pair in zip(sources, targets, strict=True)]
    arrays = PairArrays.from_flat(*map(TOKENIZER.encode_lines, (sources, targets)))
    assert arrays == pairs
    expected = [n for one, two in pairs for n in (len(one), *one, *two)]
    assert np.concatenate(list(arrays.rows(at_a_time=7))).tolist() == expected
    with pytest.raises(ValueError, match="every source needs a target, got 50 and 49"):
        PairArrays.from_flat(*map(TOKENIZER.encode_lines, (sources, targets[1:])))


@pytest.mark.skipif(os.name == "nt", reason="signals as on Unix")
def test_ctrl_c_is_heard_while_merges_are_learned() -> None:
    """The library held it back to the end: 13 seconds of a million pairs, minutes of WMT."""
    ended = threading.Event()

    def learn(stop: threading.Event) -> None:
        assert stop.wait(60)
        ended.set()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # xdist ignores it
    began = time.monotonic()
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            tokenizer_module._interruptibly(learn)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < 30
    assert ended.wait(10), "the thread is told to stop"


def test_what_goes_wrong_while_merges_are_learned_is_told() -> None:
    def learn(_: threading.Event) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tokenizer_module._interruptibly(learn)
