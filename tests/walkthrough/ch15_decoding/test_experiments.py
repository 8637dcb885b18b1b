"""The experiments of chapter 15: the shipped weights, the searches, and averaging."""

import math

import pytest
import torch

from transformer.config import EOS_ID
from transformer.inference import beam
from walkthrough.ch15_decoding.experiments import averaging, decoding, searches
from walkthrough.lab import Job, Key, half_trained, translator


@pytest.fixture(scope="module")
def loaded():
    return half_trained.load_translator()


@pytest.fixture(scope="module")
def pairs(loaded):
    book = translator.load_task(train=300, valid=5, test=20).book
    return translator.encoded(book.splits()["test_sentences"], loaded[1])


def test_next_words_are_the_models_probabilities(loaded, pairs):
    model, codec = loaded
    source, target = pairs[0]
    next_words = decoding.next_words_of(model, codec, source)
    words = codec.vocabulary.decode(target)
    path = [*words, decoding.STOP]
    total = sum(math.log(next_words(tuple(path[:n]))[path[n]]) for n in range(len(path)))
    assert total == pytest.approx(decoding.log_probs(model, [pairs[0]])[0], abs=1e-3)
    assert sum(next_words(()).values()) == pytest.approx(1, abs=1e-3)
    assert "<pad>" not in next_words(())


def test_log_probs_do_not_depend_on_the_batch_and_allow_an_empty_output(loaded, pairs):
    model, codec = loaded
    with_empty = [*pairs[:3], (pairs[3][0], [])]
    together = decoding.log_probs(model, with_empty)
    alone = [decoding.log_probs(model, [pair])[0] for pair in with_empty]
    assert together == pytest.approx(alone, abs=1e-4)
    first = decoding.next_words_of(model, codec, pairs[3][0])(())[decoding.STOP]
    assert together[3] == pytest.approx(math.log(first), abs=1e-3)


def test_a_cache_that_is_not_reordered_reports_wrong_scores(loaded, pairs, monkeypatch):
    model, _ = loaded
    source = decoding.source_batch([source for source, _ in pairs])

    def largest_gap():
        best = beam.beam_search(model, source, alpha=0.0, n_best=4)
        found = [h for hypotheses in best for h in hypotheses]
        sources = [
            pair[0] for pair, hypotheses in zip(pairs, best, strict=True) for _ in hypotheses
        ]
        given = [(ids, h.tokens) for ids, h in zip(sources, found, strict=True)]
        true = decoding.log_probs(model, given)
        return max(abs(h.log_prob - value) for h, value in zip(found, true, strict=True))

    assert largest_gap() < decoding.TIE
    monkeypatch.setattr(beam, "DecoderCache", decoding.NeverReordered)
    assert largest_gap() > 0.1


def test_a_cache_that_is_not_reordered_drops_what_is_finished_and_moves_nothing_else():
    def kept(cache):
        numbers = torch.arange(6.0)[:, None, None, None]  # two hypotheses of three sentences
        numbers = numbers.expand(-1, 1, 2, 1)  # two words each: a beam of one is behind them
        cache.layers[0].self_attention.append(numbers, numbers)
        cache.select(torch.tensor([1, 0, 3, 2, 5, 4]), sources=None)
        cache.select(torch.tensor([3, 2, 4, 4]), sources=torch.tensor([1, 2]))
        new = torch.zeros(4, 1, 1, 1)
        keys, _ = cache.layers[0].self_attention.append(new, new)
        return keys[:, 0, 0, 0].tolist()

    assert kept(decoding.NeverReordered(1)) == [2, 3, 4, 5]
    assert kept(beam.DecoderCache(1)) == [2, 3, 5, 5]


def test_the_average_is_the_mean_of_the_last_checkpoints():
    e = averaging.EXPERIMENT
    key = Key("stays high", 1.0, 50, 1)
    job = Job(e, e.arm(key.arm), key, averaging.TASK.load(small=True), small=True)
    checkpoints, average = averaging.last_checkpoints(job)
    assert len(checkpoints) == averaging.LAST
    name = "output_weight" if "output_weight" in average.weights else next(iter(average.weights))
    mean = torch.stack([c.weights[name] for c in checkpoints]).mean(0)
    torch.testing.assert_close(average.weights[name], mean)
    assert not torch.allclose(checkpoints[0].weights[name], checkpoints[-1].weights[name])
    line = dict(averaging.losses_between(checkpoints[0], checkpoints[-1], job.data))
    assert tuple(line) == averaging.ALONG
    for place, checkpoint in ((0.0, checkpoints[0]), (1.0, checkpoints[-1])):
        alone = averaging.scored(job, checkpoint).figures["valid/-/perplexity"]
        assert line[place] == pytest.approx(math.log(alone), abs=1e-4)


def test_source_batch_pads_behind_the_end_token():
    batch = decoding.source_batch([[5, 6], [7]])
    assert batch.tolist() == [[5, 6, EOS_ID], [7, EOS_ID, 0]]


@pytest.mark.parametrize(
    ("one", "other", "n"),
    [
        ([], [], 0),
        ([1, 2, 3], [1, 3], 1),
        ([], [1, 2], 2),
        ([1, 2], [2, 1], 2),
        ([5, 1, 2, 3], [1, 2, 3, 5], 2),
        ([1, 2, 3], [4, 2, 3], 1),
    ],
)
def test_edits_are_the_fewest(one, other, n):
    assert searches.edits(one, other) == searches.edits(other, one) == n


def test_every_search_is_asked_about_the_same_model():
    e = searches.EXPERIMENT
    found = {}
    searches.model_of.cache_clear()  # a test before this one may have left its model
    for name in ("greedy", "beam 4", "exact search"):
        key = Key(name, 1.0, 12, 1)
        found[name] = e.arm(name).run(Job(e, e.arm(name), key, None, small=True)).figures
    best = found["exact search"]
    assert best["test_sentences/search/search_error"] == 0
    for name, figures in found.items():
        log_prob = "test_sentences/search/log_prob"
        assert figures[log_prob] <= best[log_prob] + decoding.TIE, name
    assert searches.model_of.cache_info().currsize == 1


def test_the_weights_that_ship_are_a_run_of_the_record(loaded):
    key = ("greedy", half_trained.UPDATES, half_trained.SEED)
    frame = searches.EXPERIMENT.frame().set_index(["arm", "length", "seed"])
    task = searches.task_of(small=False)
    pairs = task.pairs("test_sentences")[: searches.N_SENTENCES]
    outputs = searches.found_by(loaded[0], [s for s, _ in pairs], searches.Search(1))
    exact = sum(out == ids for out, (_, ids) in zip(outputs, pairs, strict=True)) / len(pairs)
    recorded = frame.loc[key, "test_sentences/search/exact"]
    assert exact == pytest.approx(recorded, abs=0.02)  # the weights are another processor's


def test_the_rivals_limit_is_what_training_and_validation_references_need() -> None:
    task, n = searches.task_of(small=False), searches.N_SENTENCES
    known = [*task.pairs("train")[: averaging.N_PAIRS], *task.pairs("valid")[:n]]
    assert max(len(target) - len(source) for source, target in known) == searches.MARGIN
    e, arm = searches.EXPERIMENT, "greedy, limited"
    job = Job(e, e.arm(arm), Key(arm, 1.0, 12, 1), None, small=True)
    search = e.arm(arm).run.keywords["search"]
    outputs = searches.outputs_of(12, 1, True, "test_sentences", search)
    sources = [source for source, _ in searches.task_of(small=True).pairs("test_sentences")]
    assert all(len(o) <= len(s) + searches.MARGIN for o, s in zip(outputs, sources, strict=False))
    figures = e.arm(arm).run(job).figures
    assert figures["test_sentences/search/bleu_precision"] >= figures["test_sentences/search/bleu"]
