"""The server answers its own page and nobody else, nothing but questions, and in bounded time."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from benchmark_workflowgen.generated_graphs import generate
from graphquery import ProvenanceGraph
from lipstick.cli import main
from lipstick.explorer import ExploreError, Explorer, Served
from lipstick.explorer.budget import Budget
from lipstick.explorer.explorer import open_source
from lipstick.explorer.graphs.source import graph_source
from lipstick.explorer.params import Params
from lipstick.explorer.server import QUESTION, Serving, hosts_of


@pytest.fixture(scope="module")
def serving() -> Iterator[Served]:
    """A small graph, served."""
    generated = generate(3_000, 3, 4)
    graph = ProvenanceGraph.build(generated.segments, generated.edge_sets, generated.columns())
    with Served(Explorer([graph_source("small", graph)], seconds=1.0)) as served:
        yield served


def request(
    served: Served | Serving,
    method: str = "POST",
    path: str = "/ask",
    body: Any = None,
    **headers: str,
) -> tuple[int, dict[str, str], bytes]:
    """Send a request; headers by name, `token` and `host` as they are to be."""
    parts = urlsplit(served.url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=20)
    sent = {"Host": headers.pop("host", f"127.0.0.1:{parts.port}")}
    token = headers.pop("token", parse_qs(parts.query)["token"][0])
    if token:
        sent["X-Lipstick-Token"] = token
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    connection.putrequest(method, path, skip_host=True)
    for name, value in sent.items():
        connection.putheader(name, value)
    if data is not None:
        connection.putheader("Content-Length", str(len(data)))
    connection.endheaders(data)
    response = connection.getresponse()
    reply = response.status, dict(response.getheaders()), response.read()
    connection.close()
    return reply


def test_its_own_page_is_answered(serving: Served) -> None:
    status, headers, body = request(serving, body={"view": "sources"})
    assert status == 200
    assert json.loads(body)["answer"] == {"sources": [{"kind": "graph", "name": "small"}]}
    page = urlsplit(serving.url)
    status, headers, body = request(serving, "GET", f"/?{page.query}", token="")
    assert status == 200
    assert b'id="explorer"' in body
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


def test_the_page_is_there_before_what_it_shows() -> None:
    opening = Future[Explorer]()
    early = Serving(opening)
    thread = threading.Thread(target=early.run)
    thread.start()
    try:
        with urlopen(early.url, timeout=20) as reply:
            assert b'id="explorer"' in reply.read()
        generated = generate(3_000, 3, 4)
        graph = ProvenanceGraph.build(generated.segments, generated.edge_sets, generated.columns())
        threading.Timer(0.2, opening.set_result, (Explorer([graph_source("late", graph)]),)).start()
        _, _, body = request(early, body={"view": "sources"})
        assert json.loads(body)["answer"]["sources"][0]["name"] == "late"
    finally:
        early.stop()
        thread.join(20)


def test_the_command_ends_with_what_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    done = CliRunner().invoke(main, ["explore", str(tmp_path), "--no-browser"])
    assert done.exit_code == 1
    assert "manifest" in done.output


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"token": ""}, 401),
        ({"token": "another"}, 401),
        ({"token": "é"}, 401),
        ({"host": "evil.example"}, 403),
        ({"host": "evil.example:80"}, 403),
        ({"host": "127.0.0.1"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "https://127.0.0.1"}, 403),
    ],
    ids=str,
)
def test_others_are_not(serving: Served, headers: dict[str, str], status: int) -> None:
    reply = request(serving, body={"view": "about"}, **headers)
    assert reply[0] == status
    assert b"nodes" not in reply[2]
    if "origin" not in headers:
        reply = request(serving, "GET", "/", **headers)
        assert reply[0] in (401, 403)
    reply = request(serving, path="/export", body={"view": "nodes"}, **headers)
    assert reply[0] == status


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "GET"])
def test_nothing_can_be_written(serving: Served, method: str) -> None:
    assert request(serving, method, "/ask", body={})[0] == 405


@pytest.mark.parametrize("path", ["/../../etc/passwd", "/static/x", "/ask/..", "//etc/passwd"])
def test_no_files_are_served(serving: Served, path: str) -> None:
    assert request(serving, "GET", path)[0] in (404, 405)


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"\xff", b'{"view": 1}', b"[]", b"1"])
def test_what_is_no_question_is_refused(serving: Served, body: bytes) -> None:
    status, _, answer = request(serving, body=body)
    assert status in (200, 400)
    assert json.loads(answer)["error"]["kind"] == "refused"


def test_questions_are_bounded_in_size(serving: Served) -> None:
    status, _, answer = request(serving, body=b" " * (QUESTION + 10))
    assert status == 400
    assert b"at most" in answer


class Slow:
    """A source that takes its time, and looks at its budget."""

    kind = "graph"
    name = "slow"

    def __init__(self) -> None:
        self.stopped = threading.Event()

    @property
    def views(self) -> dict[str, Any]:
        """One that never ends by itself."""
        return {"about": self.about}

    def about(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Wait until the budget says no."""
        del params
        try:
            while True:
                budget.check()
                time.sleep(0.01)
        finally:
            self.stopped.set()


def test_answers_are_bounded_in_time() -> None:
    reply = Explorer([Slow()], seconds=0.1).ask({"view": "about"})
    assert reply["error"]["kind"] == "slow"
    assert "longer than 0.1 seconds" in reply["error"]["message"]


def test_an_answer_that_nobody_waits_for_is_given_up() -> None:
    slow = Slow()
    with Served(Explorer([slow], seconds=60.0)) as served:
        parts = urlsplit(served.url)
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=20)
        token = parse_qs(parts.query)["token"][0]
        connection.request("POST", "/ask", b'{"view": "about"}', {"X-Lipstick-Token": token})
        time.sleep(0.3)
        assert not slow.stopped.is_set()
        connection.close()
        assert slow.stopped.wait(10)


def test_answers_are_bounded_in_length(serving: Served) -> None:
    generated = generate(3_000, 3, 4)
    graph = ProvenanceGraph.build(generated.segments, generated.edge_sets, generated.columns())
    source = graph_source("g", graph)
    explorer = Explorer([source])
    text = explorer.ask_json({"view": "nodes", "params": {"segment": "input0", "limit": 10**9}})
    assert len(json.loads(text)["answer"]["rows"]) <= 200


def test_only_loopback_names_mean_the_loopback() -> None:
    assert hosts_of("127.0.0.1", 80) == {"127.0.0.1:80", "localhost:80", "[::1]:80"}
    assert hosts_of("10.0.0.7", 80) == {"10.0.0.7:80"}


def test_what_cannot_be_explored_is_told(tmp_path: Path) -> None:
    with pytest.raises(ExploreError, match="nothing at"):
        open_source(tmp_path / "none")
    (tmp_path / "text.txt").write_text("")
    with pytest.raises(ExploreError, match="neither a capture nor a store"):
        open_source(tmp_path / "text.txt")
    with pytest.raises(ExploreError, match="nothing to explore"):
        Explorer([])


def test_an_address_that_is_taken_is_told(serving: Served) -> None:
    port = urlsplit(serving.url).port
    assert port is not None
    generated = generate(3_000, 3, 4)
    graph = ProvenanceGraph.build(generated.segments, generated.edge_sets, generated.columns())
    with pytest.raises(ExploreError, match="cannot be listened on"):
        Served(Explorer([graph_source("g", graph)]), port=port)
