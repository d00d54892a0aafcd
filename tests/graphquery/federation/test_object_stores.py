"""Members on object stores: through file systems of pyarrow, and over the protocol of S3."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from pyarrow import fs

from graphquery.federation import Verdict, copy_store, open_federation
from graphquery.store import Store, StoreDamagedError, fsck
from tests.graphquery.federation.oracle import check_question, federation_of
from tests.graphquery.federation.test_copies import add, federation_file


@pytest.fixture
def mine(tmp_path: Path) -> dict[str, Path]:
    """The example's stores, to be written to."""
    from tests.graphquery.federation.stores import example

    return example(tmp_path / "stores")


class Bucket(BaseHTTPRequestHandler):
    """What of S3 reading needs: the parts of objects, and whether there are any."""

    root: Path
    asked = 0

    def do_HEAD(self) -> None:
        self._send(False)

    def do_GET(self) -> None:
        self._send(True)

    def _send(self, body: bool) -> None:
        type(self).asked += 1
        path = self.root / unquote(urlsplit(self.path).path).lstrip("/")
        if not path.is_file():
            self.send_response(HTTPStatus.NOT_FOUND)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        data = path.read_bytes()
        whole = len(data)
        wanted = self.headers.get("Range")
        if wanted is not None:
            first, last = wanted.removeprefix("bytes=").split("-")
            data = data[int(first) : int(last) + 1]
            self.send_response(HTTPStatus.PARTIAL_CONTENT)
            self.send_header("Content-Range", f"bytes {first}-{int(first) + len(data) - 1}/{whole}")
        else:
            self.send_response(HTTPStatus.OK)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", '"x"')
        self.send_header("Last-Modified", formatdate(path.stat().st_mtime, usegmt=True))
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing is logged."""


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[str]:
    """The address of a server of objects: a folder is a bucket."""
    handler = type("Handler", (Bucket,), {"root": tmp_path})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1%3A{server.server_address[1]}"
        server.shutdown()


def test_members_are_read_over_the_protocol_of_s3(
    mine: dict[str, Path], endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    end = f"?region=here&scheme=http&endpoint_override={endpoint}"
    locations = {alias: f"s3://key:secret@stores/{alias}{end}" for alias in mine}
    random = np.random.default_rng(0)
    with open_federation(federation_file(tmp_path, locations)) as federation:
        assert federation.flow("A::a1", "D::d1").verdict is Verdict.YES
        graph = federation_of(mine).merged()
        assert sum(check_question(federation, graph, random, str(n)) for n in range(3)) > 3
        add(mine["D"], "new")
        federation.refresh()
        assert federation.names(federation.ancestors("D::new:new")) == []
        mine["B"].rename(tmp_path / "away")
        federation.refresh()
        assert [each.reason for each in federation.ancestors("D::d3").missing] == ["unreachable"]


def test_stores_are_copied_from_any_file_system(mine: dict[str, Path], tmp_path: Path) -> None:
    files = fs._MockFileSystem()
    for path in sorted(mine["C"].rglob("*")):
        name = f"team/C/{path.relative_to(mine['C'])}"
        if path.is_dir():
            files.create_dir(name)
        else:
            with files.open_output_stream(name) as stream:
                stream.write(path.read_bytes())
    version = Store.open(mine["C"]).snapshot().version
    within = fs.SubTreeFileSystem("team", files)
    assert copy_store(within, "C", tmp_path / "copy") == version
    assert fsck(tmp_path / "copy") == []
    entry = next(iter(Store.open(mine["C"]).snapshot().files))
    with files.open_output_stream(f"team/C/{entry}") as stream:
        stream.write(b"something else")
    with pytest.raises(StoreDamagedError, match="is not what was committed"):
        copy_store(within, "C", tmp_path / "altered")
