"""Guards against half-written files, wrong content, and downloads that start over each time."""

import contextlib
import hashlib
import http.server
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest

from transformer.data import download as download_module
from transformer.data.download import DownloadError, _open_part, fetch, sha256

CONTENT = bytes(range(256)) * 3000  # 768 kB: several chunks
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves `content` at every address; what it does wrong is set by the test."""

    daemon_threads = True
    content = CONTENT
    ranges = True
    break_after: int | None = None  # bytes of each answer before the connection ends
    asked: list[str | None]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/file"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        if self.path != "/file":
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if not self.server.ranges:
            start, wanted = 0, None
        body = self.server.content[start:]
        if wanted and not body:
            self.send_error(416)
            return
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.break_after])

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with Server(("127.0.0.1", 0), Handler) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def download(server, path, **changes):
    options = {"checksum": CHECKSUM, "progress": False, "timeout": 60.0, "url": server.url}
    fetch(path=path, **{**options, **changes})


def test_the_file_arrives_whole_and_no_part_stays(server, tmp_path):
    path = tmp_path / "very" / "deep" / "file"
    download(server, path)
    assert path.read_bytes() == CONTENT
    assert sorted(os.listdir(path.parent)) == [".file.lock", "file"]
    assert sha256(path) == CHECKSUM


def test_the_progress_bar_counts_all_bytes(server, tmp_path, capsys):
    (tmp_path / "file.part").write_bytes(CONTENT[:100_000])
    download(server, tmp_path / "file", progress=True)
    last = capsys.readouterr().err.split("\r")[-1]
    assert last.startswith("file: 100%")
    assert "768k/768k" in last


def test_who_asks_for_quiet_sees_nothing(server, tmp_path, capfd):
    download(server, tmp_path / "file", progress=False)
    assert capfd.readouterr() == ("", "")


def test_a_broken_connection_is_taken_up_where_it_ended(server, tmp_path):
    server.break_after = 300_000
    download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == [None, "bytes=300000-", "bytes=600000-"]


@pytest.mark.parametrize("there", [1, 500_000, len(CONTENT) - 1])
def test_a_part_left_by_an_earlier_run_is_used(server, tmp_path, there):
    (tmp_path / "file.part").write_bytes(CONTENT[:there])
    download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == [f"bytes={there}-"]


def test_a_complete_part_needs_no_byte_more(server, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT)
    download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_server_without_ranges_is_read_from_the_start(server, tmp_path):
    server.ranges = False
    (tmp_path / "file.part").write_bytes(CONTENT[:500_000])
    download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == ["bytes=500000-"]  # appending would give 1.27 MB, to be fetched again


def test_a_part_of_something_else_is_thrown_away(server, tmp_path):
    (tmp_path / "file.part").write_bytes(b"<html>log in to this network</html>")
    download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == ["bytes=35-", None]


def test_wrong_content_is_refused_and_nothing_stays(server, tmp_path):
    server.content = b"x" + CONTENT[1:]
    with pytest.raises(DownloadError, match=f"SHA-256 [0-9a-f]{{64}}, expected {CHECKSUM}"):
        download(server, tmp_path / "file")
    assert os.listdir(tmp_path) == [".file.lock"]


def test_wrong_content_does_not_replace_a_file(server, tmp_path):
    (tmp_path / "file").write_bytes(b"older")
    server.content = b"x" + CONTENT[1:]
    with pytest.raises(DownloadError):
        download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"older"


def test_a_connection_that_always_breaks_keeps_its_part_for_the_next_run(server, tmp_path):
    server.break_after = 10_000
    with pytest.raises(DownloadError, match="the connection broke 4 times"):
        download(server, tmp_path / "file")
    assert not (tmp_path / "file").exists()
    assert (tmp_path / "file.part").read_bytes() == CONTENT[:40_000]


def test_a_missing_file_is_an_error_at_once(server, tmp_path):
    with pytest.raises(DownloadError, match="/none: the server answers 404"):
        fetch(f"{server.url[:-4]}none", tmp_path / "file", checksum=CHECKSUM, progress=False)
    assert len(server.asked) == 1
    assert os.listdir(tmp_path) == [".file.lock"]


@pytest.mark.parametrize(("address", "part"), [("none", b""), ("file", CONTENT)])
def test_an_answer_without_content_leaves_no_connection_open(
    server, tmp_path, monkeypatch, address, part
):
    answers, urlopen = [], urllib.request.urlopen

    def noting(*args, **options):
        try:
            return urlopen(*args, **options)
        except urllib.error.HTTPError as error:
            answers.append(error)
            raise

    monkeypatch.setattr("urllib.request.urlopen", noting)
    (tmp_path / "file.part").write_bytes(part)
    with contextlib.suppress(DownloadError):
        download(server, tmp_path / "file", url=f"{server.url[:-4]}{address}")
    assert [answer.code for answer in answers] == [416 if part else 404]
    assert all(answer.fp.closed for answer in answers)


def test_a_silent_server_is_waited_for_half_a_minute_or_as_long_as_asked(tmp_path, monkeypatch):
    waited = []

    def silent(request, *, timeout):
        waited.append(timeout)
        raise TimeoutError

    monkeypatch.setattr("urllib.request.urlopen", silent)
    for options in ({}, {"timeout": 5.0}):
        with pytest.raises(DownloadError, match="the connection broke 4 times"):
            fetch("http://a/file", tmp_path / "file", checksum=CHECKSUM, **options)
    assert waited == [30.0] * 4 + [5.0] * 4


def test_the_file_may_be_read_by_whoever_may_read_your_other_files(server, tmp_path):
    (tmp_path / "other").write_bytes(b"")
    download(server, tmp_path / "file")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_no_server_is_one_line(tmp_path):
    url = "http://127.0.0.1:9/file"  # the discard port: nobody listens
    with pytest.raises(DownloadError, match="cannot be reached") as error:
        fetch(url, tmp_path / "deep" / "file", checksum=CHECKSUM, progress=False)
    assert "\n" not in str(error.value)
    assert os.listdir(tmp_path / "deep") == [".file.lock"]


FETCH = """
import runpy, sys
from pathlib import Path
fetch = runpy.run_path(sys.argv[1])["fetch"]  # the module alone: the package would bring torch
print("ready", flush=True)
sys.stdin.readline()
fetch(sys.argv[2], Path(sys.argv[3]), checksum=sys.argv[4], progress=False)
"""


def test_four_processes_that_want_one_file_fetch_it_once(server, tmp_path):
    """With one part for all and no lock, they truncate each other's bytes."""
    path = str(tmp_path / "deep" / "file")
    words = [sys.executable, "-c", FETCH, download_module.__file__, server.url, path, CHECKSUM]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    workers = [subprocess.Popen(words, **pipes) for _ in range(4)]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
    for worker in workers:
        worker.communicate(timeout=600)
        assert worker.returncode == 0
    assert (tmp_path / "deep" / "file").read_bytes() == CONTENT
    assert server.asked == [None]
    assert sorted(os.listdir(tmp_path / "deep")) == [".file.lock", "file"]


def test_a_link_in_the_place_of_the_part_is_not_followed(server, tmp_path):
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "file.part").symlink_to(tmp_path / "mine")
    download(server, tmp_path / "file")
    assert (tmp_path / "mine").read_text() == "precious"
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert not (tmp_path / "file").is_symlink()


def test_a_link_that_appears_during_the_download_is_not_followed_either(tmp_path):
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "file.part").symlink_to(tmp_path / "mine")
    for goes_on in (False, True):
        with pytest.raises(OSError, match="symbolic links"):
            _open_part(tmp_path / "file.part", goes_on=goes_on)
    assert (tmp_path / "mine").read_text() == "precious"


def test_a_pipe_in_the_place_of_the_part_is_not_waited_for(server, tmp_path):
    os.mkfifo(tmp_path / "file.part")
    download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
