"""What versions have to say: what flowed where, event by event, and what raw lines say."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from lipstick.systems.record.call_events import Artifact, CallEvent
from lipstick.systems.record.versions import Versions

PATHS = ["/a", "/b", "/c", "/d/e", "/d/f"]


def random_events(random: np.random.Generator, count: int) -> list[CallEvent]:
    """Events of some processes over a few files, a pipe and a connection within the host."""
    pids, events = [1], []
    artifacts = [Artifact("file", path) for path in PATHS]
    artifacts += [Artifact("pipe", "pipe:[1]"), Artifact("flow", "TCP x:1->y:2")]
    for at in range(count):
        pid = int(random.choice(pids))
        what = str(
            random.choice(
                ["read", "write", "fresh", "fork", "rename", "unlink", "exit", "exec", "link"],
                p=[0.38, 0.3, 0.06, 0.1, 0.05, 0.04, 0.02, 0.02, 0.03],
            )
        )
        artifact, other = (artifacts[int(n)] for n in random.choice(5, 2, replace=False))
        if what in ("read", "write"):
            artifact = artifacts[int(random.integers(len(artifacts)))]
            events.append(CallEvent(at, float(at), pid, what, artifact, count=3))
        elif what == "fresh":
            events.append(CallEvent(at, float(at), pid, "write", artifact, fresh=True))
        elif what == "fork":
            pids.append(max(pids) + 1)
            events.append(CallEvent(at, float(at), pid, "fork", child=pids[-1]))
        elif what in ("rename", "link"):
            events.append(CallEvent(at, float(at), pid, what, artifact, other))
        elif what in ("unlink", "exec"):
            events.append(CallEvent(at, float(at), pid, what, artifact))
        elif pid != 1:
            pids.remove(pid)
            events.append(CallEvent(at, float(at), pid, "exit"))
    return events


def taints(events: Iterable[CallEvent]) -> dict[str, frozenset[str]]:
    """By name, what files and pipes hold in the end: of which files as they were before."""
    holds: dict[object, set[str]] = {}
    names: dict[str, object] = {}
    processes: dict[int, set[str]] = defaultdict(set)

    def of(name: str) -> set[str]:
        if name not in names:
            names[name] = object()
            holds[names[name]] = {name} if name.startswith("/") else set()
        return holds[names[name]]

    def forget(name: str) -> None:
        # What has the name afterwards, if it is read before it is made, was not there before.
        names[name] = object()
        holds[names[name]] = {f"{name} again"}

    for event in events:
        taint = processes[event.pid]
        match event.what:
            case "read" | "exec":
                taint |= of(event.artifact.name)
            case "write":
                if event.fresh:
                    of(event.artifact.name).clear()
                held = of(event.artifact.name)
                held |= taint
            case "fork":
                processes[event.child] = set(taint)
            case "exit":
                del processes[event.pid]
            case "unlink":
                forget(event.artifact.name)
            case "link":
                of(event.artifact.name)
                names[event.other.name] = names[event.artifact.name]
            case "rename":
                moved = of(event.artifact.name) | taint
                forget(event.artifact.name)
                forget(event.other.name)
                holds[names[event.other.name]] = moved
    return {name: frozenset(holds[each]) for name, each in names.items()}


def ancestors(versions: Versions, vertex: int) -> set[int]:
    """All vertices that one was made of, itself among them."""
    before = defaultdict(list)
    for source, target in versions.edges:
        before[target].append(source)
    reached, waiting = {vertex}, [vertex]
    while waiting:
        for source in before[waiting.pop()]:
            if source not in reached:
                reached.add(source)
                waiting.append(source)
    return reached


_PATH = r"<(/(?:[^<>])*)>"
_IGNORED = ("/dev/", "/proc/", "/sys/")


def raw_files(lines: Iterable[str]) -> tuple[dict[int, set[str]], dict[int, set[str]]]:
    """By process, the paths read and written, from raw lines of single-threaded processes."""
    read: dict[int, set[str]] = defaultdict(set)
    written: dict[int, set[str]] = defaultdict(set)
    held: dict[str, str] = {}
    for line in lines:
        pid, _, text = line.rstrip("\n").split(maxsplit=2)
        if text.endswith("<unfinished ...>"):
            held[pid] = text.removesuffix("<unfinished ...>")
            continue
        if text.startswith("<... "):
            text = held.pop(pid, "") + text.split("resumed>", 1)[1]
        name = text.split("(", 1)[0]
        result = re.search(r"= (-?\d+)[^=]*$", text)
        if result is None or int(result[1]) < 0:
            continue
        paths = [each for each in re.findall(r"\d" + _PATH, text) if not each.startswith(_IGNORED)]
        if name in ("read", "pread64", "readv", "mmap") and paths and "MAP_ANON" not in text:
            if name != "mmap" or "PROT_READ" in text or "PROT_EXEC" in text:
                read[int(pid)].add(paths[0])
            if name == "mmap" and "PROT_WRITE" in text and "MAP_SHARED" in text:
                written[int(pid)].add(paths[0])
        elif name in ("write", "pwrite64", "writev") and paths and int(result[1]) > 0:
            written[int(pid)].add(paths[0])
        elif name in ("openat", "open", "creat"):
            truncates = "O_TRUNC" in text or ("O_CREAT" in text and "O_EXCL" in text)
            end = re.search(r"= \d+" + _PATH, text)
            if truncates and end is not None and not end[1].startswith(_IGNORED):
                written[int(pid)].add(end[1])
        elif name == "copy_file_range" and int(result[1]) > 0:
            read[int(pid)].add(paths[0])
            written[int(pid)].add(paths[1])
        elif name.startswith("rename"):
            end = re.findall(r'"([^"]*)"', text)[-1]
            folder = re.findall(_PATH, text)
            written[int(pid)].add(end if end.startswith("/") else f"{folder[-1]}/{end}")
        elif name == "ftruncate":
            written[int(pid)].add(paths[0])
        elif name == "execve":
            read[int(pid)].add(re.findall(r'"([^"]*)"', text)[0])
    return dict(read), dict(written)


def random_hosts(
    random: np.random.Generator, hosts: int, count: int
) -> tuple[list[list[CallEvent]], dict[str, frozenset[str]]]:
    """Events of hosts that send each other data, and what their files hold in the end.

    Files are called by their host. Of what was sent, any number of bytes has arrived, in order.
    """
    events_of_hosts: list[list[CallEvent]] = [[] for _ in range(hosts)]
    held: dict[str, set[str]] = {}
    processes: dict[tuple[int, int], set[str]] = defaultdict(set)
    sent: dict[str, list[tuple[int, set[str]]]] = defaultdict(list)
    arrived: dict[str, int] = defaultdict(int)
    for at in range(count):
        host, pid = int(random.integers(hosts)), int(random.integers(1, 4))
        taint_of_process = processes[host, pid]
        peer = int(random.integers(hosts))
        what = str(random.choice(["read", "write", "send", "receive"]))
        time = float(at)
        if what in ("read", "write"):
            name = f"/{host}/{random.choice(['a', 'b', 'c'])}"
            holds = held.setdefault(name, {name})
            events_of_hosts[host].append(
                CallEvent(at, time, pid, what, Artifact("file", name), count=1)
            )
            if what == "read":
                taint_of_process |= holds
            else:
                holds |= taint_of_process
        elif what == "send" and peer != host:
            name = f"TCP h{host}:1->h{peer}:1"
            size = int(random.integers(1, 9))
            end = (sent[name][-1][0] if sent[name] else 0) + size
            sent[name].append((end, set(taint_of_process)))
            events_of_hosts[host].append(
                CallEvent(at, time, pid, "write", Artifact("flow", name), count=size)
            )
        elif what == "receive" and peer != host:
            name = f"TCP h{peer}:1->h{host}:1"
            there = (sent[name][-1][0] if sent[name] else 0) - arrived[name]
            if there:
                size = int(random.integers(1, there + 1))
                arrived[name] += size
                events_of_hosts[host].append(
                    CallEvent(at, time, pid, "read", Artifact("flow", name), count=size)
                )
                start = 0
                for end, taint in sent[name]:
                    if start < arrived[name]:
                        taint_of_process |= taint
                    start = end
    return events_of_hosts, {name: frozenset(each) for name, each in held.items()}
