"""Guards against half-written files, wrong content, and downloads that start over each time."""

import hashlib
import http.server
import threading

import pytest

from transformer.data.download import DownloadError, fetch, sha256

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
    fetch(server.url, path, **{"checksum": CHECKSUM, "progress": False, "timeout": 5.0, **changes})


def test_the_file_arrives_whole_and_no_part_stays(server, tmp_path):
    path = tmp_path / "deep" / "file"
    download(server, path)
    assert path.read_bytes() == CONTENT
    assert [p.name for p in path.parent.iterdir()] == ["file"]
    assert sha256(path) == CHECKSUM


def test_the_progress_bar_counts_all_bytes(server, tmp_path, capsys):
    (tmp_path / "file.part").write_bytes(CONTENT[:100_000])
    download(server, tmp_path / "file", progress=True)
    assert "100%" in capsys.readouterr().err


def test_a_broken_connection_is_taken_up_where_it_ended(server, tmp_path):
    server.break_after = 300_000
    download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == [None, "bytes=300000-", "bytes=600000-"]


def test_a_part_left_by_an_earlier_run_is_used(server, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT[:500_000])
    download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == ["bytes=500000-"]


def test_a_complete_part_needs_no_byte_more(server, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT)
    download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_server_without_ranges_is_read_from_the_start(server, tmp_path):
    server.ranges = False
    (tmp_path / "file.part").write_bytes(CONTENT[:500_000])
    download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT  # appending would give 1.27 MB


def test_a_part_of_something_else_is_thrown_away(server, tmp_path):
    (tmp_path / "file.part").write_bytes(b"<html>log in to this network</html>")
    download(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == ["bytes=35-", None]


def test_wrong_content_is_refused_and_nothing_stays(server, tmp_path):
    server.content = b"x" + CONTENT[1:]
    with pytest.raises(DownloadError, match=f"SHA-256 [0-9a-f]{{64}}, expected {CHECKSUM}"):
        download(server, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


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
    assert list(tmp_path.iterdir()) == []


def test_no_server_is_one_line(tmp_path):
    url = "http://127.0.0.1:9/file"  # the discard port: nobody listens
    with pytest.raises(DownloadError, match="cannot be reached") as error:
        fetch(url, tmp_path / "deep" / "file", checksum=CHECKSUM, progress=False)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []
