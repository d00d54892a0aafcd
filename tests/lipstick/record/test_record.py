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
from lipstick.record import RecordError, Recording, record, store_recordings
from lipstick.record.recording import read_trace
from lipstick.record.stitching import crossing_bytes, layers_of
from lipstick.record.versions import Versions
from semiring.token import format_value
from tests.graphquery.federation.oracle import federation_of
from tests.lipstick.record.oracle import (
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
    for seed in range(int(os.environ.get("LIPSTICK_RECORDINGS", "600"))):
        random = np.random.default_rng(seed)
        events = random_events(random, int(random.integers(1, 60)))
        made = Versions().add(events)
        assert _is_acyclic(made), f"seed {seed}"
        expected = taints(events)
        targets = {target for _, target in made.edges}
        initial = {
            place
            for place, vertex in enumerate(made.vertices)
            if vertex.kind == "file" and place not in targets
        }
        last = made.last()
        for path in PATHS:
            if path in last and path in expected:
                found = {made.vertices[each].name for each in ancestors(made, last[path]) & initial}
                wanted = {name.removesuffix(" again") for name in expected[path]}
                assert found == wanted, f"seed {seed}: {path}"
                compared += 1
    assert compared > 1000


def _recording(made: Versions) -> Recording:
    nothing: dict[int, tuple[str, ...]] = {}
    vertices, edges = tuple(made.vertices), tuple(made.edges)
    return Recording("h", 0, ("x",), 0, 0.0, 1.0, vertices, edges, {}, nothing, nothing, nothing)


def test_what_hosts_sent_each_other_is_joined_by_its_bytes(tmp_path: Path) -> None:
    compared = crossed = 0
    for seed in range(int(os.environ.get("LIPSTICK_RECORDINGS", "600"))):
        random = np.random.default_rng(seed)
        hosts, expected = random_hosts(random, int(random.integers(2, 4)), 50)
        each = [Versions().add(events) for events in hosts]
        recordings = [_recording(made) for made in each]
        crossings = crossing_bytes(recordings)
        layers_of(recordings, crossings)  # there is an order
        bases = np.cumsum([0, *(len(made.vertices) for made in each)]).tolist()
        joined = Versions([vertex for made in each for vertex in made.vertices])
        for base, made in zip(bases, each, strict=False):
            for source, target in made.edges:
                joined.edges[base + source, base + target] = None
        for host, source, other, target in crossings:
            joined.edges[bases[host] + source, bases[other] + target] = None
        assert _is_acyclic(joined), seed
        targets = {target for _, target in joined.edges}
        for base, made in zip(bases, each, strict=False):
            for path, place in made.last().items():
                found = {
                    joined.vertices[one].name
                    for one in ancestors(joined, base + place)
                    if joined.vertices[one].kind == "file" and one not in targets
                }
                assert found == expected[path], f"seed {seed}: {path}"
                compared += 1
        crossed += len(crossings)
        if seed % 100 == 0:
            _check_stored(tmp_path / str(seed), recordings, expected, each)
    assert compared > 1000
    assert crossed > 1000


def _check_stored(
    folder: Path,
    recordings: list[Recording],
    expected: Mapping[str, frozenset[str]],
    each: list[Versions],
) -> None:
    """Stores of recordings, asked as one, say the same."""
    paths = {f"h{number}": folder / str(number) for number in range(len(recordings))}
    store_recordings(dict(zip(paths.values(), recordings, strict=True)))
    assert [fsck(path) for path in paths.values()] == [[] for _ in paths]
    with federation_of(paths) as federation:
        for member, made in zip(paths, each, strict=True):
            for path in made.last():
                name = _node(paths, member, Path(path))
                told = [*federation.names(federation.ancestors(name)), name]
                given = (each for each in told if "/files.given:" in each)
                assert {each.rpartition(":")[2].partition("|")[0] for each in given} == expected[
                    path
                ]


def _is_acyclic(made: Versions) -> bool:
    waiting = Counter(target for _, target in made.edges)
    following = defaultdict(list)
    for source, target in made.edges:
        following[source].append(target)
    ready = [place for place in range(len(made.vertices)) if not waiting[place]]
    done = 0
    while ready:
        done += 1
        for target in following[ready.pop()]:
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return done == len(made.vertices)


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
    made = record(["bash", "-c", f"cd '{work}' && /bin/bash {script}"], raw)
    assert made.code == 0
    assert made.processes >= 200
    with raw.open(encoding="latin-1") as lines:
        read, written = raw_files(lines)
    pids = {place: vertex.pid for place, vertex in enumerate(made.vertices)}
    assert len({pids[place] for place in made.read}) == len(made.read)
    for mine, theirs in ((made.read, read), (made.written, written)):
        told = {pids[place]: set(paths) for place, paths in mine.items()}
        assert told == {pid: set(map(_meant, paths)) for pid, paths in theirs.items() if paths}

    store = tmp_path / "store"
    assert store_recordings({store: made}) == {str(store): 1}
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
    found = {}
    snapshot = Store.open(paths[member]).snapshot()
    for segment in snapshot.segments.values():
        if segment.relation == "files":
            for row in snapshot.values(segment, ["path", "version"]).to_pylist():
                if row["path"] == str(path):
                    name = f"{format_value(row['path'])}|{row['version']}"
                    found[segment.name[:4], row["version"]] = f"{member}::{segment.name}:{name}"
    return found[max(found)]


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
    found: list[Recording] = []
    command = [sys.executable, "-S", "-c", SERVER, str(server)]
    thread = threading.Thread(target=lambda: found.append(record(command)))
    thread.start()
    while not (server / "port").exists() and thread.is_alive():
        thread.join(0.05)
    port = (server / "port").read_text()
    asked = record([sys.executable, "-S", "-c", CLIENT, port, str(client)])
    thread.join()
    (told,) = found
    told.save(tmp_path / "told.gz")
    asked.save(tmp_path / "asked.gz")
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
    with pytest.raises(RecordError, match="no recording"):
        Recording.load(Path(__file__))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RecordError, match="There is no command 'nothing'"):
        record(["nothing"])
    with pytest.raises(RecordError, match="There is no strace"):
        record([sys.executable, "-c", ""])
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(RecordError, match="on Linux"):
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
    made = read_trace(text, "/w")
    kinds = [(vertex.kind, vertex.name) for vertex in made.vertices]
    assert kinds == [
        ("process", "x"),
        ("file", "/bin/x"),
        ("file", "/w/a-"),
        ("flow", "TCP [::1]:5->[::1]:6"),
        ("flow", "UDP 0.0.0.0:9->10.0.0.1:53"),
        ("file", "/w/b"),
        ("file", "/w/b"),
    ]
    assert made.vertices[0].command == "x aé"
    assert list(made.edges) == [(1, 0), (2, 0), (0, 3), (0, 4), (5, 6), (0, 6)]


def test_the_command_line_passes_on_the_exit_code(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("there is no strace")
    command = [sys.executable, "-m", "lipstick.cli", "record", "--store", str(tmp_path / "store")]
    done = subprocess.run(
        [*command, "--", "sh", "-c", f"echo x > {tmp_path}/out; exit 3"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "processes" in done.stderr
    assert fsck(tmp_path / "store") == []
