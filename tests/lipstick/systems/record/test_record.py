"""Commands that are recorded: versions against taints, files against raw lines."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from graphquery.federation import Verdict
from graphquery.store import Store, fsck
from lipstick.cli import main
from lipstick.systems.record import CommandRecording, record, store_recordings
from lipstick.systems.record.recording import read_trace
from lipstick.systems.record.store import crossing_bytes, layers_of
from lipstick.systems.record.versions import Versions
from semiring.errors import LipstickError
from semiring.token import format_value
from tests.graphquery.federation.oracle import federation_of
from tests.lipstick.systems.record.oracle import (
    PATHS,
    ancestors,
    random_events,
    random_hosts,
    raw_files,
    taints,
)

traced = pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace")


def test_versions_say_what_flowed_where_and_have_no_cycles() -> None:
    compared = 0
    for seed in range(int(os.environ.get("LIPSTICK_RECORDINGS", "200"))):
        random = np.random.default_rng(seed)
        events = random_events(random, int(random.integers(1, 60)))
        versions = Versions().add(events)
        assert _is_acyclic(versions), f"seed {seed}"
        expected = taints(events)
        targets = {target for _, target in versions.edges}
        initial = {
            number
            for number, vertex in enumerate(versions.vertices)
            if vertex.kind == "file" and number not in targets
        }
        last = versions.last()
        for path in PATHS:
            if path in last and path in expected:
                names = {
                    versions.vertices[each].name
                    for each in ancestors(versions, last[path]) & initial
                }
                wanted = {name.removesuffix(" again") for name in expected[path]}
                assert names == wanted, f"seed {seed}: {path}"
                compared += 1
    assert compared > 500


def _recording(versions: Versions) -> CommandRecording:
    nothing: dict[int, tuple[str, ...]] = {}
    vertices, edges = tuple(versions.vertices), tuple(versions.edges)
    return CommandRecording(
        "h", 0, ("x",), 0, 0.0, 1.0, vertices, edges, {}, nothing, nothing, nothing
    )


def test_what_hosts_sent_each_other_is_joined_by_its_bytes(tmp_path: Path) -> None:
    compared = crossed = 0
    for seed in range(int(os.environ.get("LIPSTICK_RECORDINGS", "200"))):
        random = np.random.default_rng(seed)
        hosts, expected = random_hosts(random, int(random.integers(2, 4)), 50)
        each = [Versions().add(events) for events in hosts]
        recordings = [_recording(versions) for versions in each]
        crossings = crossing_bytes(recordings)
        layers_of(recordings, crossings)  # there is an order
        bases = np.cumsum([0, *(len(versions.vertices) for versions in each)]).tolist()
        joined = Versions([vertex for versions in each for vertex in versions.vertices])
        for base, host_versions in zip(bases, each, strict=False):
            for source, target in host_versions.edges:
                joined.edges[base + source, base + target] = None
        for host, source, other, target in crossings:
            joined.edges[bases[host] + source, bases[other] + target] = None
        assert _is_acyclic(joined), seed
        targets = {target for _, target in joined.edges}
        for base, host_versions in zip(bases, each, strict=False):
            for path, last_version in host_versions.last().items():
                names = {
                    joined.vertices[vertex].name
                    for vertex in ancestors(joined, base + last_version)
                    if joined.vertices[vertex].kind == "file" and vertex not in targets
                }
                assert names == expected[path], f"seed {seed}: {path}"
                compared += 1
        crossed += len(crossings)
        if seed % 100 == 0:
            _check_stored(tmp_path / str(seed), recordings, expected, each)
    assert compared > 500
    assert crossed > 500


def _check_stored(
    folder: Path,
    recordings: list[CommandRecording],
    expected: Mapping[str, frozenset[str]],
    each: list[Versions],
) -> None:
    """Stores of recordings, asked as one, say the same."""
    paths = {f"h{number}": folder / str(number) for number in range(len(recordings))}
    store_recordings(dict(zip(paths.values(), recordings, strict=True)))
    assert [fsck(path) for path in paths.values()] == [[] for _ in paths]
    with federation_of(paths) as federation:
        for member, versions in zip(paths, each, strict=True):
            for path in versions.last():
                name = _node(paths, member, Path(path))
                told = [*federation.names(federation.ancestors(name)), name]
                given = (each for each in told if "/files.given:" in each)
                assert {each.rpartition(":")[2].partition("|")[0] for each in given} == expected[
                    path
                ]


def _is_acyclic(versions: Versions) -> bool:
    waiting = Counter(target for _, target in versions.edges)
    following = defaultdict(list)
    for source, target in versions.edges:
        following[source].append(target)
    ready = [number for number in range(len(versions.vertices)) if not waiting[number]]
    done = 0
    while ready:
        done += 1
        for target in following[ready.pop()]:
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return done == len(versions.vertices)


SCRIPT = """
set -e
for i in $(seq 70); do echo "line $i" > "in $i.txt"; done
for i in $(seq 70); do sort "in $i.txt" | tr a-z A-Z > "up $i.tmp"; mv "up $i.tmp" "up $i.txt"; done
cat up*.txt > all.txt
cp all.txt copy.txt
echo more >> all.txt
cat all.txt "in 1.txt" > /dev/null
ln copy.txt linked.txt; rm copy.txt
dd if=all.txt of=all.txt bs=1 count=3 conv=notrunc status=none
"""


@traced
def test_a_pipeline_of_many_processes_is_recorded_as_the_tracer_saw_it(tmp_path: Path) -> None:
    script, raw = tmp_path / "run.sh", tmp_path / "raw"
    script.write_text(SCRIPT)
    work = tmp_path / "wörk <1>"
    work.mkdir()
    recording = record(["bash", "-c", f"cd '{work}' && /bin/bash {script}"], raw)
    assert recording.code == 0
    assert recording.processes >= 200
    with raw.open(encoding="latin-1") as lines:
        read, written = raw_files(lines)
    pids = {number: vertex.pid for number, vertex in enumerate(recording.vertices)}
    assert len({pids[number] for number in recording.read}) == len(recording.read)
    for recorded, by_tracer in ((recording.read, read), (recording.written, written)):
        told = {pids[number]: set(paths) for number, paths in recorded.items()}
        assert told == {pid: set(map(_meant, paths)) for pid, paths in by_tracer.items() if paths}

    store = tmp_path / "store"
    assert store_recordings({store: recording}) == {str(store): 1}
    assert fsck(store) == []
    with federation_of({"host": store}) as federation:
        end = _node({"host": store}, "host", work / "all.txt")
        told = federation.names(federation.ancestors(end))
        for i in range(1, 71):
            assert any(f"up {i}.txt" in name for name in told), i
            assert any(f"in {i}.txt" in name for name in told), i
        assert not any("linked" in name or "copy.txt" in name for name in told)

    # A later command goes on with the files that this one left.
    again = record(["cat", str(work / "linked.txt")])
    assert store_recordings({store: again}) == {str(store): 2}
    with federation_of({"host": store}) as federation:
        copied = _node({"host": store}, "host", work / "linked.txt")
        assert "::run2/" in copied
        names = federation.names(federation.ancestors(copied))
        assert any("::run1/" in name and "copy.txt" in name for name in names)
        assert any("up 70.txt" in name for name in names)


def _meant(path: str) -> str:
    """A path that the tracer writes, whose escapes are those of Python."""
    return bytes(ast.literal_eval(f'b"{path}"')).decode()


def _node(paths: Mapping[str, Path], member: str, path: Path) -> str:
    """The name of the last version of a file in a member's store."""
    names = {}
    snapshot = Store.open(paths[member]).snapshot()
    for segment in snapshot.segments.values():
        if segment.relation == "files":
            for row in snapshot.values(segment, ["path", "version"]).to_pylist():
                if row["path"] == str(path):
                    name = f"{format_value(row['path'])}|{row['version']}"
                    names[segment.name[:4], row["version"]] = f"{member}::{segment.name}:{name}"
    return names[max(names)]


SERVER = """
import socket, sys
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
open(sys.argv[1] + "/port.tmp", "w").write(str(s.getsockname()[1]))
import os; os.rename(sys.argv[1] + "/port.tmp", sys.argv[1] + "/port")
c, _ = s.accept()
asked = c.recv(100)
c.sendall(open(sys.argv[1] + "/secret").read().encode() + asked)
open(sys.argv[1] + "/log", "wb").write(asked + c.recv(100))
"""
CLIENT = """
import socket, sys
c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
c.sendall(open(sys.argv[2] + "/question").read().encode())
open(sys.argv[2] + "/answer", "wb").write(c.recv(100))
c.sendall(open(sys.argv[2] + "/late").read().encode())
"""


@traced
def test_both_ends_of_a_connection_stitch(tmp_path: Path) -> None:
    server, client = tmp_path / "server", tmp_path / "client"
    for folder, files in ((server, ["secret"]), (client, ["question", "late"])):
        folder.mkdir()
        for name in files:
            (folder / name).write_text(name)
    recordings: list[CommandRecording] = []
    command = [sys.executable, "-S", "-c", SERVER, str(server)]
    thread = threading.Thread(target=lambda: recordings.append(record(command)))
    thread.start()
    while not (server / "port").exists() and thread.is_alive():
        thread.join(0.05)
    port = (server / "port").read_text()
    client_recording = record([sys.executable, "-S", "-c", CLIENT, port, str(client)])
    thread.join()
    (told,) = recordings
    told.save(tmp_path / "told.gz")
    client_recording.save(tmp_path / "asked.gz")
    paths = {"server": tmp_path / "s", "client": tmp_path / "c"}
    result = CliRunner().invoke(
        main,
        [
            "stitch",
            *(
                f"{tmp_path / n}.gz={s}"
                for n, s in (("told", paths["server"]), ("asked", paths["client"]))
            ),
        ],
    )
    assert result.exit_code == 0, result.output
    assert [fsck(path) for path in paths.values()] == [[], []]

    with federation_of(paths) as federation:
        secret, log = (_node(paths, "server", server / name) for name in ("secret", "log"))
        question, late, answer = (
            _node(paths, "client", client / name) for name in ("question", "late", "answer")
        )
        flows = {
            (question, answer): Verdict.YES,
            (secret, answer): Verdict.YES,
            (late, answer): Verdict.NO,
            (late, log): Verdict.YES,
            (question, log): Verdict.YES,
        }
        for (source, target), verdict in flows.items():
            assert federation.flow(source, target).verdict is verdict, (source, target)


def test_what_cannot_be_recorded_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LipstickError, match="not a recording"):
        CommandRecording.load(Path(__file__))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LipstickError, match="There is no command 'nothing'"):
        record(["nothing"])
    with pytest.raises(LipstickError, match="There is no strace"):
        record([sys.executable, "-c", ""])
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(LipstickError, match="on Linux"):
        record([sys.executable, "-c", ""])


def test_lines_of_the_tracer_are_read() -> None:
    text = [
        '1 1.0 execve("/bin/x", ["x", "a\\303\\251"], 0x7 /* 1 vars */) = 0',
        '1 1.1 openat(AT_FDCWD</w>, "f", O_RDONLY) = -1 ENOENT (No such file or directory)',
        "1 1.2 clone3({flags=CLONE_VM|CLONE_THREAD}, 88 <unfinished ...>",
        "2 1.3 read(3</w/a->, <unfinished ...>",
        "1 1.4 <... clone3 resumed>) = 2",
        '2 1.5 <... read resumed>"x -> y>", 9) = 6',
        '2 1.6 write(4<TCPv6:[[::1]:5->[::1]:6]>, "x", 1) = 1',
        '2 1.7 sendto(5<UDP:[0.0.0.0:9]>, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(53), '
        'sin_addr=inet_addr("10.0.0.1")}, 16) = 1',
        '2 1.8 write(6</w/b>(deleted), "x", 1) = 1',
        "2 1.9 +++ exited with 0 +++",
    ]
    versions = read_trace(text, "/w")
    kinds = [(vertex.kind, vertex.name) for vertex in versions.vertices]
    assert kinds == [
        ("process", "x"),
        ("file", "/bin/x"),
        ("file", "/w/a-"),
        ("flow", "TCP [::1]:5->[::1]:6"),
        ("flow", "UDP 0.0.0.0:9->10.0.0.1:53"),
        ("file", "/w/b"),
        ("file", "/w/b"),
    ]
    assert versions.vertices[0].command == "x aé"
    assert list(versions.edges) == [(1, 0), (2, 0), (0, 3), (0, 4), (5, 6), (0, 6)]


def test_the_command_line_passes_on_the_exit_code(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("there is no strace")
    command = [sys.executable, "-m", "lipstick", "record", "--store", str(tmp_path / "store")]
    done = subprocess.run(
        [*command, "--", "sh", "-c", f"echo x > {tmp_path}/out; exit 3"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "processes" in done.stderr
    assert fsck(tmp_path / "store") == []
