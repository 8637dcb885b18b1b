"""Guards against another version of the corpus, sentences in two splits, and needless downloads.

The trees here are our own: nothing of CRAFT is part of the repository.
"""

import functools
import hashlib
import http.server
import os
import threading
from pathlib import Path

import pytest

from transformer.parsing.craft import (
    FOLDER_VARIABLE,
    LEFT_OUT,
    SHA256,
    TAGS,
    TREES,
    craft_corpus,
    craft_folder,
    craft_trees,
)
from transformer.parsing.trees import leaves, parse_brackets, read_penn

HEADING = "( (HEADING (NP (NNS Results))) )"
TEXT = {
    "1": f"{HEADING}\n( (S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .)) )\n",
    "2": "( (S (NP-SBJ (DT A) (NN dog)) (VP (VBZ barks) (NP (-NONE- *))) (. .)) )\n",
    "3": f"{HEADING}\n( (S (NP (DT The) (NN dog)) (VP (VBZ sleeps)) (. .)) )\n",
    "4": f"{HEADING}\n( (S (NP (DT A) (NN dog)) (VP (VBZ barks)) (. .)) )\n",
}
FILES = {
    split: {name: hashlib.sha256(TEXT[name].encode()).hexdigest() for name in names}
    for split, names in {"train": ["1", "2"], "dev": ["3"], "test": ["4"]}.items()
}


@pytest.fixture
def copy(tmp_path) -> Path:
    folder = tmp_path / "copy" / TREES
    folder.mkdir(parents=True)
    for name, text in TEXT.items():
        (folder / f"{name}.tree").write_text(text)
    return tmp_path / "copy"


@pytest.fixture
def server(copy):
    handler = functools.partial(Quiet, directory=str(copy))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, *args):
        pass


def trees(folder, **options):
    return craft_trees(folder=folder, files=FILES, progress=False, **options)


def test_all_articles_but_the_six_have_a_checksum():
    articles = [article for split in SHA256.values() for article in split]
    assert {split: len(found) for split, found in SHA256.items()} == {
        "train": 57,
        "dev": 7,
        "test": 27,
    }
    assert len(set(articles)) == 91
    assert set(articles).isdisjoint(LEFT_OUT)
    assert len(LEFT_OUT) == 6


def test_a_sentence_of_an_earlier_split_is_dropped(copy):
    found = trees(copy)
    texts = {split: [" ".join(leaves(tree)) for tree, _ in found[split]] for split in found}
    assert texts["train"] == ["Results", "The cat sleeps .", "A dog barks ."]
    assert texts["dev"] == ["The dog sleeps ."]
    assert texts["test"] == []


def test_missing_files_are_downloaded_once(server, tmp_path):
    url = f"http://127.0.0.1:{server.server_port}"
    cache = tmp_path
    found = trees(cache, base_url=url)
    assert found["train"][1].tree == parse_brackets("(S (NP The cat) (VP sleeps) .)")
    assert len(server.asked) == 4
    (cache / TREES / "2.tree").unlink()  # as after an interruption
    assert trees(cache, base_url=url) == found
    assert server.asked[4:] == [f"/{TREES}/2.tree"]


def test_several_bars_would_be_ninety_one(server, tmp_path, capsys):
    url = f"http://127.0.0.1:{server.server_port}"
    craft_trees(folder=tmp_path, files=FILES, base_url=url)
    shown = capsys.readouterr().err
    assert shown.count("100%") == 1
    assert shown.split("\r")[-1].startswith("CRAFT: 100%")


def test_nothing_is_shown_where_nothing_is_fetched_or_quiet_is_asked_for(server, tmp_path, capsys):
    url = f"http://127.0.0.1:{server.server_port}"
    for progress in (False, True):
        craft_trees(folder=tmp_path, files=FILES, base_url=url, progress=progress)
        assert capsys.readouterr().err == ""


def test_offline_is_one_line_that_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no copy of CRAFT at .*1\.tree .*off") as error:
        trees(tmp_path, download=False)
    assert "go online once, or let TRANSFORMER_CRAFT name a folder" in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(FileNotFoundError, match="cannot be reached"):
        trees(tmp_path, base_url="http://127.0.0.1:9")  # the port that discards: nobody listens


def test_another_file_in_your_own_folder_is_left_alone(copy):
    other = copy / TREES / "3.tree"
    other.write_text("mine")
    with pytest.raises(ValueError, match=r"3\.tree has SHA-256 .* delete it"):
        trees(copy)
    assert other.read_text() == "mine"


def test_a_pipe_is_not_waited_for(copy):
    other = copy / TREES / "3.tree"
    other.unlink()
    os.mkfifo(other)
    with pytest.raises(ValueError, match=r"3\.tree is no file; remove it"):
        trees(copy)


def test_a_line_that_is_no_tree_is_named(tmp_path):
    text = "( (S (NP (NN a))) )\n( (S (NP (NN b)) )\n"
    path = tmp_path / TREES / "9.tree"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    files = {"train": {"9": hashlib.sha256(text.encode()).hexdigest()}}
    with pytest.raises(ValueError, match=r"9\.tree, line 2: expected 1 more '\)'"):
        craft_trees(folder=tmp_path, files=files)


def test_spaces_inside_words_are_taken_out(tmp_path):
    """A line of words is split at its spaces; so a word may hold none, and not be nothing."""
    text = "( (NP (NN Xpd\u200a\u2020) (PP (IN of) (NN \u200a))) )\n"
    path = tmp_path / TREES / "9.tree"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    files = {"dev": {"9": hashlib.sha256(text.encode()).hexdigest()}}
    ((tree, _),) = craft_trees(folder=tmp_path, files=files)["dev"]
    assert tree == parse_brackets("(NP Xpd\u2020 (PP of -))")


def test_argument_before_variable_before_cache(monkeypatch, tmp_path):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    assert craft_folder().parts[-2:] == ("transformer-walkthrough", "craft")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "variable"))
    with pytest.raises(FileNotFoundError, match=f"no folder .*, which {FOLDER_VARIABLE} names"):
        craft_trees()
    for name in ("variable", "argument"):
        (tmp_path / name).mkdir()
    assert craft_folder() == tmp_path / "variable"
    assert craft_folder(tmp_path / "argument") == tmp_path / "argument"


@pytest.fixture
def small_craft(copy, monkeypatch):
    monkeypatch.setattr("transformer.parsing.craft.SHA256", FILES)
    monkeypatch.setenv(FOLDER_VARIABLE, str(copy))


def test_sentences_and_symbols(small_craft):
    corpus = craft_corpus("dev")
    assert list(corpus) == [("The dog sleeps .", "(S (NP DT NN )NP (VP VBZ )VP . )S")]
    assert corpus.source_trees == ("(S (NP The dog) (VP sleeps) .)",)
    assert (corpus.name, corpus.source_language, corpus.split) == ("craft", "en", "dev")
    assert corpus.bleu_tokenizer == "none"  # its words stand between spaces
    numbered = craft_corpus("dev", leaf="number")
    assert numbered.target == ("(S (NP 1 2 )NP (VP 3 )VP 4 )S",)
    assert numbered.source == corpus.source
    tagged = craft_corpus("dev", gold_tags=True)
    assert tagged.source == ("The/DT dog/NN sleeps/VBZ ./.",)
    with pytest.raises(ValueError, match="split must be one of train, dev, test, got 'val'"):
        craft_corpus("val")
    for number in (-1, 0):
        with pytest.raises(ValueError, match=f"max_sentences must be at least 1, got {number}"):
            craft_corpus("train", max_sentences=number)


def test_fewer_sentences_are_a_part_of_more(small_craft):
    parts = [set(craft_corpus("train", max_sentences=n).source) for n in (1, 2, 3)]
    assert [len(part) for part in parts] == [1, 2, 3]
    assert parts[0] < parts[1] < parts[2]


def test_the_corpus_itself(tmp_path):
    repository = Path(__file__).parents[3]
    beside = repository.parent / "shared" / "data" / "craft"
    folder = Path(os.environ.get(FOLDER_VARIABLE, beside))
    if not (folder / TREES).is_dir():
        pytest.skip(f"no copy of CRAFT in {folder}: let {FOLDER_VARIABLE} name one")
    found = craft_trees(folder=folder, files={"dev": SHA256["dev"]}, download=False)
    assert len(found["dev"]) == 2780
    assert {tag for _, tags in found["dev"] for tag in tags} == set(TAGS)
    assert sum(len(tags) for _, tags in found["dev"]) == 67652


OPTIONS = [
    {},
    {"folder": "/a/copy", "download": True, "progress": True},
    {"folder": "/a/copy", "download": False, "progress": False},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_what_craft_is_asked_for_reaches_its_files(monkeypatch, options):
    asked = {}

    def trees(**options):
        asked.update(options)
        return {}

    monkeypatch.setattr("transformer.parsing.craft.craft_trees", trees)
    with pytest.raises(ValueError, match="CRAFT split must be one of"):
        craft_corpus("dev", **options)
    assert asked == {"folder": None, "download": True, "progress": True} | options


def test_the_sentences_drawn_from_craft_are_always_the_same(monkeypatch):
    """Those of the recorded runs, and not the first ones: these are of one article."""
    trees = tuple(read_penn(f"(NP (CD {number}))") for number in range(20))
    monkeypatch.setattr("transformer.parsing.craft.craft_trees", lambda **options: {"train": trees})
    drawn = craft_corpus("train", max_sentences=6).source
    assert drawn == ("10", "18", "16", "14", "0", "17")
    assert craft_corpus("train").source == tuple(str(number) for number in range(20))
