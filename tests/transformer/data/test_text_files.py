"""Guards against sentences that shift by one, and errors that do not say where to look."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.data import text_files
from transformer.data.text_files import TextFile, TextPair, read_lines, read_pair


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_only_line_feeds_end_lines(tmp_path):
    text = "one\u2028still one\ntwo\x85still two\x0bstill\x1ctwo\nthree\n"
    assert len(text.splitlines()) == 7  # what the known-wrong reader would return
    assert read_lines(written(tmp_path, "a.txt", text)) == tuple(text.split("\n")[:3])


def test_carriage_returns_and_byte_order_mark_are_not_part_of_a_sentence(tmp_path):
    assert read_lines(written(tmp_path, "a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")) == ("one", "two")


def test_the_last_line_needs_no_line_feed(tmp_path):
    assert read_lines(written(tmp_path, "a.txt", "one\ntwo")) == ("one", "two")


line = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r\ufeff"))


@given(lines=st.lists(line.filter(lambda text: text.split()), min_size=1))
def test_lines_come_back_exactly(tmp_path_factory, lines):
    path = written(tmp_path_factory.mktemp("lines"), "a.txt", "\n".join(lines) + "\n")
    assert read_lines(path) == tuple(lines)


def test_gzip_is_unpacked_and_a_truncated_one_is_refused(tmp_path):
    packed = gzip.compress(b"one\ntwo\n" * 1000, mtime=0)
    assert len(read_lines(written(tmp_path, "a.txt.gz", packed))) == 2000
    for broken in (packed[:-9], packed[: len(packed) // 2], b"not gzip", b""):
        with pytest.raises(ValueError, match=r"(b\.gz is not a whole gzip file|no lines)"):
            read_lines(written(tmp_path, "b.gz", broken))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.txt has no lines"),
        (b"one\n\nthree\n", "a.txt, line 2: every line must hold a sentence"),
        (b"one\ntwo\n \t \n", "a.txt, line 3: every line must hold a sentence"),
        (b"one\ncaf\xe9 noir\n", r"a.txt, line 2: not valid UTF-8 \(byte 0xe9 at column 4\)"),
        ("one\ntwo\n".encode("utf-16"), "a.txt, line 1: not valid UTF-8 .* is this UTF-16"),
        ("one\ntwo\n".encode("utf-16-le"), "a.txt, line 1: a NUL byte at column 2: is this UTF-16"),
        (b"one\n\0\n", "a.txt, line 2: a NUL byte at column 1: .* save it as UTF-8"),
        ("one\n\u200b\n".encode(), "a.txt, line 2: every line must hold a sentence"),
        (b"one\rtwo\rthree", "a.txt has one line with carriage returns"),
        (b"one\n" + b"word " * 10_000, "a.txt, line 2: .* at most 1000 words, got 10000"),
    ],
)
def test_bad_content_is_refused_with_file_and_line(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read_lines(written(tmp_path, "a.txt", content))


def test_a_line_of_a_later_block_has_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "_BLOCK", 10)
    content = b"".join(b"sentence %d\n" % number for number in range(9))
    path = written(tmp_path, "a.txt", content + b"\xe9\n")
    with pytest.raises(ValueError, match=r"a.txt, line 10: not valid UTF-8"):
        read_lines(path)
    assert len(read_lines(written(tmp_path, "a.txt", content))) == 9


def test_the_fingerprint_is_of_what_stands_in_the_file(tmp_path):
    plain, packed = written(tmp_path, "a.txt", "one\ntwo"), tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(b"one\ntwo"))
    found = TextFile(plain).fingerprint()
    assert found.startswith("2 lines, SHA-256 ")
    assert TextFile(packed).fingerprint() == found != TextFile(written(tmp_path, "b", "one\n2"))
    assert list(pair := TextPair(TextFile(plain), TextFile(packed)).source) == ["one", "two"]
    assert list(pair) == ["one", "two"], "it is read anew each time"
    with pytest.raises(ValueError, match=r"same number of lines, got 2 in .*a\.txt and 1 in "):
        TextPair(TextFile(plain), TextFile(written(tmp_path, "c", "one")))


def test_a_higher_limit_lets_a_long_line_through(tmp_path):
    path = written(tmp_path, "a.txt", "word " * 10_000)
    assert len(read_lines(path, max_words=10_000)) == 1


def test_files_of_different_length_are_refused_with_both_numbers(tmp_path):
    source = written(tmp_path, "a.en", "one\ntwo\nthree\n")
    target = written(tmp_path, "a.de", "eins\nzwei\n")
    with pytest.raises(
        ValueError, match=r"same number of lines, got 3 in .*a\.en and 2 in .*a\.de"
    ):
        read_pair(source, target)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt"):
        read_lines(tmp_path / "nowhere.txt")


def test_a_higher_limit_is_for_both_files(tmp_path):
    long, short = "word " * 1001, "word"
    for source, target in ((long, short), (short, long)):
        paths = written(tmp_path, "a.en", source), written(tmp_path, "a.de", target)
        with pytest.raises(ValueError, match="at most 1000 words, got 1001"):
            read_pair(*paths)
        assert read_pair(*paths, max_words=1001) == ((source,), (target,))
