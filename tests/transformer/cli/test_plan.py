"""Presets, settings files and options: what a run is made of, and what cannot be meant."""

from pathlib import Path

import pytest

from transformer.cli.plan import DataSettings, make_plan, read_data
from transformer.config import TransformerConfig
from transformer.training.settings import TrainSettings

FILES = ["data.train_source=a", "data.train_target=b"]


def test_a_preset_trains_what_records_were_made_with() -> None:
    plan = make_plan("multi30k-tiny", None, ["training.threads=1"])
    assert plan.training == TrainSettings(
        max_updates=6000,
        max_tokens=512,
        accumulate=4,
        schedule="linear",
        warmup=800,
        peak=0.003,
        valid_every=200,
        save_every=200,
        keep=10,
        threads=1,
    )
    sizes = {"d_model": 128, "n_heads": 4, "n_layers": 4, "d_ff": 256, "dropout": 0.3}
    assert plan.config(10_260).to_dict().items() >= sizes.items()


def test_the_corpora_of_the_presets() -> None:
    assert make_plan("multi30k-tiny", None).data == DataSettings(
        corpus="multi30k", source_language="en", target_language="de", merges=10_000
    )
    assert make_plan("phrasebook", None).data == DataSettings(
        corpus="phrasebook", source_language="fr", target_language="en"
    )
    assert make_plan("craft-trees", None).data == DataSettings(
        corpus="craft",
        source_language="en",
        target_language="trees",
        word_dropout=0.1,
        leaf="number",
    )


@pytest.mark.parametrize(
    ("preset", "updates", "kept"),  # §5.2: 100 000 and 300 000 steps; §6.1: last 5, last 20
    [("base", 100_000, 5), ("big", 300_000, 20)],
)
def test_the_papers_models_are_trained_as_in_the_paper(preset: str, updates: int, kept: int):
    plan = make_plan(preset, None, FILES)
    assert (plan.training.max_updates, plan.training.keep) == (updates, kept)
    assert (plan.data.corpus, plan.data.merges) == ("files", 37_000)  # §5.1
    assert plan.config(37_000) == getattr(TransformerConfig, preset)(37_000)


def test_data_that_says_nothing_more() -> None:
    data = DataSettings()
    assert (data.corpus, data.merges, data.corpus_seed, data.folder) == (
        "phrasebook",
        10_000,
        0,
        None,
    )
    assert (data.tokenized, data.gold_tags, data.max_sentences) == (False, False, None)
    assert data.leaf == "tag"
    assert data.bpe_dropout == data.word_dropout == 0.0


def test_the_ends_of_every_range_are_allowed() -> None:
    assert DataSettings(corpus="multi30k", merges=0, corpus_seed=0).merges == 0
    trees = DataSettings(corpus="craft", max_sentences=1, word_dropout=0.0)
    assert trees.max_sentences == 1
    assert DataSettings(corpus="multi30k", bpe_dropout=0.999).bpe_dropout == 0.999


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["data.corpus_seed=-1"], "corpus_seed must be at least 0, got -1"),
        (["data.corpus=wmt"], r"corpus must be one of .*'multi30k'.*, got 'wmt'"),
        (
            ["data.bpe_dropout=0.1"],
            'data.bpe_dropout needs corpus "multi30k" or "files", got 0.1 and corpus '
            "'phrasebook'",
        ),
        (["data.merges=500"], 'needs corpus "multi30k" or "files", got 500'),
        (
            ["data.folder=x"],
            "needs corpus \"multi30k\" or \"craft\", got 'x' and corpus 'phrasebook'",
        ),
        (
            ["data.corpus=multi30k", "data.corpus_seed=3"],
            "data.corpus_seed needs corpus \"phrasebook\", got 3 and corpus 'multi30k'",
        ),
        (
            ["data.corpus=craft", "data.tokenized=yes"],
            "data.tokenized needs corpus \"files\", got True and corpus 'craft'",
        ),
        (["data.corpus=multi30k", "data.bpe_dropout=-0.1"], r"must lie in \[0, 1\), got -0.1"),
        (["data.corpus=multi30k", "data.bpe_dropout=1"], r"must lie in \[0, 1\), got 1.0"),
        (["data.gold_tags=yes"], 'data.gold_tags needs corpus "craft"'),
        (["data.max_sentences=5"], 'data.max_sentences needs corpus "craft"'),
        (["data.word_dropout=0.5"], 'data.word_dropout needs corpus "craft"'),
        (["data.leaf=XX"], 'data.leaf needs corpus "craft"'),
        (
            ["data.corpus=craft", "data.gold_tags=yes", "data.leaf=word"],
            "gold tags need leaves that are tags or numbers, got leaf='word'",
        ),
        (
            ["data.corpus=files", *FILES, "training.patience=2"],
            "patience needs a split to validate",
        ),
        (
            ["training.patience=2", "training.valid_every=0"],
            "valid_every must be at least 1 with pat",
        ),
        (
            [FILES[0]],
            'data.train_target need corpus "files", got corpus \'phrasebo',
        ),
        (["data.corpus=files"], "needs data.train_source and data.train_target, got None and None"),
        (["data.corpus=files", FILES[0]], "train_target go together, got a and None"),
        (["data.corpus=files", FILES[1]], "train_target go together, got None and b"),
        (["training.seed"], "expected section.name=value, as in .*, got 'training.seed'"),
        (["training=3"], "expected section.name=value, as in .*, got 'training=3'"),
        (["training.=3"], "expected section.name=value, as in .*, got 'training.=3'"),
        ([".seed=3"], r"settings has no \[''\]"),
    ],
)
def test_an_option_that_cannot_be_meant(options: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_plan("phrasebook", None, options)


def test_a_kind_of_leaf_is_one_of_four(as_users_run_it) -> None:
    with pytest.raises(ValueError, match=r"leaf must be one of .*'number'.*, got 'letter'"):
        make_plan("craft-trees", None, ["data.leaf=letter"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('preset = "huge"', "preset must be one of phrasebook, .*, got 'huge'"),
        ('preset = "base"\ntraining = 3', "training must be a section of names .*, got 3"),
        ("", r"name a preset \(phrasebook, .*\) or a settings file"),
        (
            '[data]\ntrain_source = "C:\\data\\x"',
            r"not a TOML file: .*: write a path with /",
        ),
        ("[data]\ncorpus = 'é'".encode("latin-1"), "not a TOML file: not valid UTF-8"),
    ],
)
def test_a_file_that_cannot_be_meant(tmp_path: Path, text: str | bytes, message: str) -> None:
    (tmp_path / "s.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=message):
        make_plan(None, tmp_path / "s.toml")


def test_a_preset_that_is_named_replaces_the_files(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('preset = "big"\n[training]\nseed = 3\n')
    plan = make_plan("phrasebook", tmp_path / "s.toml")
    assert (plan.training.seed, plan.training.max_updates) == (3, 900)
    assert plan.model["d_model"] == 128
    assert make_plan("phrasebook", None).training.seed == 1, "a preset stays as it is"


def test_a_file_alone_makes_a_plan(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("[training]\nseed = 3\n")
    plan = make_plan(None, tmp_path / "s.toml")
    assert (plan.training.seed, plan.data, plan.model) == (3, DataSettings(), {})


def test_settings_of_a_corpus_with_options_over_them() -> None:
    written = {"corpus": "craft", "gold_tags": True}
    data = read_data(written, ["data.gold_tags=no", "data.max_sentences=7"])
    assert data == DataSettings(corpus="craft", gold_tags=False, max_sentences=7)
    assert written == {"corpus": "craft", "gold_tags": True}
