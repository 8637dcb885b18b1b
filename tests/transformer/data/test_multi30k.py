"""Guards against another version of the corpus, and against asking the network without need."""

import gzip
import hashlib
import os
import shutil
from typing import get_args

import pytest

from transformer.data import download, multi30k
from transformer.data.download import DownloadError
from transformer.data.multi30k import (
    FOLDER_VARIABLE,
    SHA256,
    Language,
    Split,
    Variant,
    file_name,
    multi30k_folder,
    multi30k_lines,
)

LINES = {"train": 29_000, "val": 1_014, "test_2016_flickr": 1_000}
LINES |= {"test_2017_flickr": 1_000, "test_2017_mscoco": 461, "test_2018_flickr": 1_071}


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("asked the network")

    monkeypatch.setattr(download, "fetch", refuse)


def test_every_file_has_a_checksum():
    assert set(SHA256) == set(get_args(Variant))
    names = {f"{split}.{language}" for split in get_args(Split) for language in get_args(Language)}
    for sums in SHA256.values():
        assert set(sums) == names
        assert len(set(sums.values())) == len(names)


@pytest.mark.parametrize("variant", get_args(Variant))
@pytest.mark.parametrize("split", get_args(Split))
def test_the_copy_has_the_published_numbers_of_lines(multi30k_copy, no_network, variant, split):
    for language in get_args(Language):
        lines = multi30k_lines(language, split, variant=variant, folder=multi30k_copy)
        assert len(lines) == LINES[split]


def test_the_reference_has_the_published_number_of_tokens(multi30k_copy, no_network):
    lines = multi30k_lines("de", "test_2016_flickr", folder=multi30k_copy)
    assert sum(len(line.split(" ")) for line in lines) == 12_103  # Wu et al. 2021


def test_argument_before_variable_before_cache(monkeypatch, tmp_path):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    assert "transformer-walkthrough" in str(multi30k_folder())
    monkeypatch.setenv(FOLDER_VARIABLE, "")  # set to nothing is as good as not set
    assert "transformer-walkthrough" in str(multi30k_folder())
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "variable"))
    with pytest.raises(FileNotFoundError, match=f"no folder .*, which {FOLDER_VARIABLE} names"):
        multi30k_lines("en", "val")
    assert list(tmp_path.iterdir()) == [], "a name that may be misspelt makes no folder"
    for name in ("variable", "argument"):
        (tmp_path / name).mkdir()
    assert multi30k_folder() == tmp_path / "variable"
    assert multi30k_folder(tmp_path / "argument") == tmp_path / "argument"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cs", "train", "raw"), "language must be one of en, de, fr, got 'cs'"),
        (("en", "test", "raw"), "split must be one of train, val, test_2016_flickr.* got 'test'"),
        (("en", "train", "tok"), "variant must be one of lc.norm.tok, raw, got 'tok'"),
    ],
)
def test_unknown_names_are_refused_with_those_allowed(arguments, message):
    with pytest.raises(ValueError, match=message):
        file_name(*arguments)


@pytest.fixture
def small_corpus(monkeypatch, tmp_path):
    """Pretend that the corpus is two sentences, fetched from a folder instead of the network."""
    content = gzip.compress(b"A dog.\nA cat.\n", mtime=0)
    origin = tmp_path / "origin" / "raw"
    origin.mkdir(parents=True)
    (origin / "val.en.gz").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    monkeypatch.setitem(SHA256["raw"], "val.en", digest)

    def copy(url, path, *, checksum, progress):
        assert checksum == digest
        assert url == f"{multi30k.BASE_URL}/raw/val.en.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(origin / "val.en.gz", path)

    monkeypatch.setattr(download, "fetch", copy)
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setattr(multi30k, "user_cache_path", lambda name: cache / name)
    return cache / "transformer-walkthrough" / "multi30k" / "data" / "task1" / "raw" / "val.en.gz"


def test_a_missing_file_is_downloaded_once(small_corpus, monkeypatch):
    assert multi30k_lines("en", "val", variant="raw") == ("A dog.", "A cat.")
    monkeypatch.setattr(download, "fetch", None)  # would fail if it were called again
    assert multi30k_lines("en", "val", variant="raw") == ("A dog.", "A cat.")


def test_a_damaged_file_in_the_cache_is_downloaded_again(small_corpus):
    small_corpus.parent.mkdir(parents=True)
    small_corpus.write_bytes(gzip.compress(b"A dog.\n"))
    assert multi30k_lines("en", "val", variant="raw") == ("A dog.", "A cat.")


def test_a_different_file_in_your_own_folder_is_left_alone(small_corpus, tmp_path):
    other = tmp_path / "own" / "data" / "task1" / "raw" / "val.en.gz"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"mine")
    with pytest.raises(ValueError, match=r"has SHA-256 .* expected .* delete it"):
        multi30k_lines("en", "val", variant="raw", folder=tmp_path / "own")
    assert other.read_bytes() == b"mine"


def test_offline_without_a_copy_is_one_line_that_says_what_to_do(monkeypatch, tmp_path):
    def offline(*args, **kwargs):
        raise DownloadError("the network is off")

    monkeypatch.setattr(download, "fetch", offline)
    message = (
        r"no copy of Multi30k at .*val.* \(the network is off\): go online .*TRANSFORMER_MULTI"
    )
    with pytest.raises(FileNotFoundError, match=message) as error:
        multi30k_lines("en", "val", folder=tmp_path)
    assert "\n" not in str(error.value)
    with pytest.raises(FileNotFoundError, match="downloading is switched off"):
        multi30k_lines("en", "val", folder=tmp_path, download=False)
    assert list(tmp_path.iterdir()) == []


def test_offline_with_a_damaged_copy_says_that_it_is_damaged(small_corpus, monkeypatch):
    """There is a copy: "no copy" sends its owner looking in the wrong place."""

    def offline(*args, **kwargs):
        raise DownloadError("the network is off")

    monkeypatch.setattr(download, "fetch", offline)
    small_corpus.parent.mkdir(parents=True)
    small_corpus.write_bytes(b"half of it")
    for options, why in (({}, "the network is off"), ({"download": False}, "switched off")):
        message = rf"the copy of Multi30k at .*val\.en\.gz is damaged: it has SHA-256 .*{why}\)"
        with pytest.raises(FileNotFoundError, match=message) as error:
            multi30k_lines("en", "val", variant="raw", **options)
        assert "no copy" not in str(error.value)
    assert small_corpus.read_bytes() == b"half of it"


def test_a_pipe_or_a_folder_in_the_place_of_a_file_is_named_and_not_waited_for(small_corpus):
    small_corpus.parent.mkdir(parents=True)
    os.mkfifo(small_corpus)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"val\.en\.gz is no file; remove it"):
            multi30k_lines("en", "val", variant="raw")
        if small_corpus.is_fifo():
            small_corpus.unlink()
            small_corpus.mkdir()
