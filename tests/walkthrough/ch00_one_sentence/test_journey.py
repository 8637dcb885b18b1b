"""The numbers that the chapter shows are those of the model itself, not of a second one."""

import pytest
import torch

from transformer.inference.translate import Decoding, translate
from transformer.training import train
from walkthrough.ch00_one_sentence import journey
from walkthrough.ch00_one_sentence.experiments import (
    EVERY,
    EXPERIMENT,
    SENTENCES,
    ask_while_it_learns,
)
from walkthrough.lab.experiment import Job, Key
from walkthrough.lab.tasks import settings_of
from walkthrough.lab.translator import new_model


def test_the_stages_end_where_the_encoder_ends(translator, jane):
    model, _ = translator
    with torch.no_grad():
        wanted = model.encode(torch.tensor([jane.source_ids]))[0]
    torch.testing.assert_close(jane.stages[-1], wanted)
    torch.testing.assert_close(jane.stages[0], jane.embedded + jane.positions)
    assert len(jane.stages) == 1 + 2 * model.config.n_layers


def test_every_head_asks_as_the_model_does_and_together_they_make_the_sum(translator, jane):
    model, _ = translator
    attention = model.encoder.layers[0].self_attention
    heads = [journey.ask(model, jane, head) for head in range(model.config.n_heads)]
    for head, asking in enumerate(heads):
        torch.testing.assert_close(asking.weights, jane.maps.encoder[0, 0, head])
        torch.testing.assert_close(asking.scores * 32**0.5, asking.products)
    with torch.no_grad():
        mixed = attention.output_proj(torch.cat([asking.output for asking in heads], dim=-1))
    torch.testing.assert_close(mixed, jane.added)


def test_what_is_written_is_the_greedy_translation(translator, jane):
    model, codec = translator
    ((best,),) = translate(model, codec, [journey.SENTENCE], Decoding(beam=1))
    assert codec.decode(jane.target_ids) == best.text
    assert jane.probabilities.argmax(dim=1).tolist() == jane.target_ids


def test_one_word_is_followed_through_each_sentence_at_its_place(translator, jane):
    model, codec = translator
    texts = [journey.SENTENCE, "Jane visite l'hôtel en septembre."]
    found = journey.one_word_in(model, codec, texts, place=2)
    torch.testing.assert_close(found[0], jane.stages[:, 2])
    assert not torch.allclose(found[0, 1], found[1, 1], atol=0.1)


def test_no_plane_lays_the_ends_further_apart():
    paths = torch.randn(7, 5, 16, generator=torch.Generator().manual_seed(0))

    def spread(points):
        return float((points - points.mean(dim=0)).square().sum())

    ours = spread(journey.plane(paths)[:, -1])
    for seed in range(20):
        other = torch.randn(16, 2, generator=torch.Generator().manual_seed(seed))
        axes = torch.linalg.qr(other).Q
        assert ours > spread(paths[:, -1] @ axes)


def test_nearest_words_leave_the_word_itself_out(translator):
    model, codec = translator
    word = codec.vocabulary.encode(["septembre"])[0]
    found = journey.nearest_words(model, codec, word, n=5)
    rows = model.source_embedding.weight
    alike = torch.cosine_similarity(rows, rows[word], dim=1)
    assert "septembre" not in found
    assert codec.vocabulary.encode(found) == alike.topk(6).indices[1:].tolist()


@pytest.fixture(scope="module")
def record():
    (run,) = EXPERIMENT.frame().to_dict("records")
    return run


def test_the_record_is_the_training_that_made_the_weights(record, translator):
    """Asked 19 times on its way, it ends at the very words that the stored weights write."""
    model, codec = translator
    said = record["extra"]["said"]
    assert [moment["update"] for moment in said] == list(range(0, 901, EVERY))
    assert record["extra"]["sentences"] == list(SENTENCES)
    now = [found[0].text for found in translate(model, codec, SENTENCES, Decoding(beam=1))]
    assert said[-1]["translations"] == now


def test_asking_changes_nothing_of_the_training():
    """The same training, asked and not asked, ends at the same loss."""
    task = EXPERIMENT.task.load(small=True)
    job = Job(EXPERIMENT, EXPERIMENT.arms[0], Key("as in chapter 14", 1, 4, 1), task, small=True)
    asked = ask_while_it_learns(job)
    model = new_model(task, seed=1)
    settings = settings_of(task.plan.training, job.arm, job.key).replace(log_every=EVERY)
    history = train(model, task.pairs("train"), settings, progress=False)
    assert asked.figures["train/-/loss"] == history.records[-1].loss
    assert [moment["update"] for moment in asked.extra["said"]] == [0, 4]
