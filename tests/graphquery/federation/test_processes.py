"""Eight servers as processes, killed, stopped, delayed, cut: nothing wrong, all missing named."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest

from graphquery import ProvenanceGraph
from graphquery.federation.federation import Federation
from graphquery.federation.questions.answer import INTERRUPTED, TIMEOUT, UNREACHABLE
from graphquery.federation.questions.question import Options
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.federation.serving.peers import Peers
from graphquery.federation.serving.server import Server
from graphquery.federation.wire.client import HttpTransport
from tests.graphquery.federation.oracle import drawn, federation_of
from tests.graphquery.federation.stores import random_stores
from tests.graphquery.federation.test_failures import check_partial

STORES = 8
CASES = int(os.environ.get("LIPSTICK_FEDERATIONS", "1"))


def serve(path: Path, connection: Connection) -> None:
    """Serve a store, telling the address first."""
    server = Server(path, Peers(Disclosure.NODES))
    connection.send(server.address)
    server.serve()


@dataclass(slots=True)
class Proxy:
    """Passes connections on to a server: with a delay, or up to so many bytes of replies."""

    address: str
    delay: float = 0.0
    cut_after: int | None = None
    listening: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def own(self) -> str:
        """Its own address."""
        return f"http://127.0.0.1:{self.listening.getsockname()[1]}"

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                threading.Thread(target=self._pass, args=(client,), daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        host, port = self.address.removeprefix("http://").rsplit(":", 1)
        with (
            contextlib.suppress(OSError),
            client,
            socket.create_connection((host, int(port)), timeout=20) as server,
        ):
            for ends in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pump, args=ends, daemon=True).start()
            while server.fileno() >= 0 and client.fileno() >= 0:
                time.sleep(0.02)
                if self._ended(client) or self._ended(server):
                    return

    @staticmethod
    def _ended(connection: socket.socket) -> bool:
        try:
            return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False

    def _pump(self, source: socket.socket, target: socket.socket, reply: bool) -> None:
        passed = 0
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if reply:
                    time.sleep(self.delay)
                    if self.cut_after is not None:
                        data = data[: max(0, self.cut_after - passed)]
                passed += len(data)
                target.sendall(data)
                if reply and self.cut_after is not None and passed >= self.cut_after:
                    break
            target.shutdown(socket.SHUT_RDWR)


@dataclass(slots=True)
class Running:
    """Servers as processes, behind proxies, and the merged graph of what they serve."""

    graph: ProvenanceGraph
    paths: dict[str, Path]
    processes: dict[str, BaseProcess]
    proxies: dict[str, Proxy]

    @contextlib.contextmanager
    def federation(self, options: Options, timeout: float) -> Iterator[Federation]:
        """A federation of all, through the proxies."""
        transports = {alias: HttpTransport(proxy.own) for alias, proxy in self.proxies.items()}
        try:
            yield Federation(transports, timeout=timeout, options=options)
        finally:
            for transport in transports.values():
                transport.close()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """Eight servers."""
    paths = random_stores(tmp_path, 17, STORES)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pandas", __name__, "tests.graphquery.federation.stores"])
    processes, addresses = {}, {}
    for alias, path in paths.items():
        parent_end, child_end = context.Pipe()
        processes[alias] = context.Process(target=serve, args=(path, child_end), daemon=True)
        processes[alias].start()
        child_end.close()
        addresses[alias] = parent_end
    proxies = {}
    for alias, parent_end in addresses.items():
        assert parent_end.poll(60)
        proxies[alias] = Proxy(parent_end.recv())
        parent_end.close()
    try:
        yield Running(federation_of(paths).merged(), paths, processes, proxies)
    finally:
        for process in processes.values():
            process.kill()
            process.join()
            process.close()
        for proxy in proxies.values():
            proxy.listening.close()


def test_servers_that_fail_in_every_way_are_named_and_nothing_is_wrong(running: Running) -> None:
    random = np.random.default_rng(5)
    every = {UNREACHABLE, TIMEOUT, INTERRUPTED}
    partial = 0
    for number in range(CASES):
        nodes, other_nodes = drawn(running.graph, random, 3), drawn(running.graph, random, 2)
        for boundary in (True, False):
            what = f"case {number}, {nodes}, {other_nodes}, boundary {boundary}"
            with running.federation(Options(boundary=boundary), 20.0) as federation:
                assert not federation.directory.absent
                assert check_partial(federation, running.graph, nodes, other_nodes, what, {}) == 0
                cut, slow = (f"S{number}" for number in random.choice(STORES, 2, replace=False))
                running.proxies[cut].cut_after = int(random.integers(0, 400))
                running.proxies[slow].delay = 0.05
                reasons = {cut: every}
                partial += check_partial(
                    federation, running.graph, nodes, other_nodes, what, reasons
                )
                running.proxies[cut].cut_after, running.proxies[slow].delay = None, 0.0
    stopped, killed = "S1", "S2"
    with running.federation(Options(boundary=False), 1.0) as federation:
        os.kill(running.processes[stopped].pid or 0, signal.SIGSTOP)
        os.kill(running.processes[killed].pid or 0, signal.SIGKILL)
        for _ in range(CASES):
            nodes, other_nodes = drawn(running.graph, random, 3), drawn(running.graph, random, 2)
            reasons = {stopped: every, killed: every}
            what = f"{stopped} stopped, {killed} killed, {nodes}, {other_nodes}"
            partial += check_partial(federation, running.graph, nodes, other_nodes, what, reasons)
        os.kill(running.processes[stopped].pid or 0, signal.SIGCONT)
    assert partial > 0
