"""Files: whole or not at all, nothing destroyed that bears the name, and only UTF-8 is read."""

import os
import threading
from pathlib import Path

import pytest

from transformer import files
from transformer.files import check_folder, read_text, write_atomically

needs_pipes = pytest.mark.skipif(os.name == "nt", reason="links and pipes as on Unix")


def test_a_megabyte_stays_free_beside_the_file(tmp_path: Path, monkeypatch) -> None:
    content, needed = b"x" * 1000, 1000 + 1024 * 1024
    for free in (needed, needed - 1):
        usage = type("Usage", (), {"free": free})()
        monkeypatch.setattr(files.shutil, "disk_usage", lambda _, usage=usage: usage)
        if free == needed:
            write_atomically(tmp_path / "deep" / "folder" / "file", content)
        else:
            with pytest.raises(OSError, match=f"{needed} bytes needed, {free} free"):
                write_atomically(tmp_path / "another" / "file", content)
    assert (tmp_path / "deep" / "folder" / "file").read_bytes() == content


def test_a_file_is_on_the_disk_before_it_gets_its_name(tmp_path: Path, monkeypatch) -> None:
    """Else a power cut leaves half a file under the name of a whole one."""
    flushed = []

    def fsync(number: int) -> None:
        flushed.append((os.fstat(number).st_size, (tmp_path / "file").exists()))

    monkeypatch.setattr(files.os, "fsync", fsync)
    write_atomically(tmp_path / "file", b"first ", memoryview(b"second"))
    assert flushed == [(12, False)]
    assert (tmp_path / "file").read_bytes() == b"first second"


@needs_pipes
def test_a_link_goes_on_leading_where_it_led(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    for name, target in (("link", "real"), ("chain", "link"), ("dangling", "folder/new")):
        (tmp_path / name).symlink_to(target)
        write_atomically(tmp_path / name, name.encode())
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / target).read_bytes() == name.encode()


@needs_pipes
def test_what_is_no_regular_file_is_written_into_and_stays(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for name in ("pipe", "link"):
        reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
        reader.start()
        write_atomically(tmp_path / name, b"a", b"b")
        reader.join(60)
    assert got == [b"ab", b"ab"]
    assert pipe.is_fifo()
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path, b"")
    (tmp_path / "null").symlink_to(os.devnull)
    write_atomically(tmp_path / "null", b"nothing")
    assert sorted(os.listdir(tmp_path)) == ["link", "null", "pipe"]


def test_a_folder_is_tried_and_left_as_it_was(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").touch()
    check_folder(tmp_path)
    check_folder(tmp_path / "deep" / "folder")
    with pytest.raises(OSError, match="file"):
        check_folder(tmp_path / "file" / "below")
    monkeypatch.setattr(Path, "touch", lambda self: (_ for _ in ()).throw(OSError("read only")))
    with pytest.raises(OSError, match="read only"):
        check_folder(tmp_path / "deep" / "folder")
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\nb".encode("utf-16"), r"byte 0xff at column 1\): is this UTF-16\? save it as UTF-8"),
        ("a\nb".encode("utf-16-be"), "a NUL byte at column 1: is this UTF-16"),
        ("a\nb".encode("utf-16-le"), "a NUL byte at column 2: is this UTF-16"),
        (b"a\xe9b", r"not valid UTF-8 \(byte 0xe9 at column 2\)$"),
    ],
)
def test_another_encoding_is_refused_by_name(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_text(tmp_path / "file")
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbfone \xef\xbb\xbf")
    assert read_text(tmp_path / "file") == "one \ufeff"
