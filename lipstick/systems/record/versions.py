"""From events to versions of files, processes and flows, without cycles.

A version that was used never gets new sources: later reads or writes go into the next version,
which derives from it. Edges only lead into versions that were not used yet, so the graph has no
cycles, and no output depends on a later read. If a version has the same ancestors already, no new
one is made: a process that copies a file piece by piece has one version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from lipstick.systems.record.call_events import Artifact, CallEvent

Key = tuple[str, str, int]
"""Kind, name, and number, from 0, among the artifacts that had this name."""


@dataclass(slots=True)
class Vertex:
    """A version of a file, a process or a flow.

    Parameters
    ----------
    kind
        ``file``, ``process``, ``pipe`` or ``flow``.
    name
        A path, the name of a program, a flow's two ends.
    version
        From 1, among the versions of its name; of a process, among its own.
    pid, parent
        Of a process, and of the one that began it; 0 for others.
    command
        The arguments of a process.
    time
        The time when it was first seen, in seconds since 1970.
    first, last
        For a flow, the range of bytes, without its end, in its direction of the connection.
    received
        For a flow, whether it arrived here rather than was sent.
    """

    kind: str
    name: str
    version: int
    pid: int = 0
    parent: int = 0
    command: str = ""
    time: float = 0.0
    first: int = 0
    last: int = 0
    received: bool = False


@dataclass(slots=True)
class Versions:
    """The graph under construction.

    Parameters
    ----------
    vertices
        All versions, in the order they begin.
    edges
        From the used to the resulting version, by index in `vertices`, in the order of creation.
    read, written, connected
        By place of a process's first version, the paths that it read and wrote, and the addresses
        that it connected to.
    """

    vertices: list[Vertex] = field(default_factory=list)
    edges: dict[tuple[int, int], None] = field(default_factory=dict)
    read: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    written: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    connected: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    _current: dict[Key, int] = field(default_factory=dict)
    _frozen: set[int] = field(default_factory=set)
    _sources: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    _numbers: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    _keys: dict[str, Key] = field(default_factory=dict)
    _deleted: dict[str, Key] = field(default_factory=dict)
    _bytes: dict[tuple[Key, bool], int] = field(default_factory=lambda: defaultdict(int))
    _processes: dict[int, int] = field(default_factory=dict)
    _states: dict[int, _Process] = field(default_factory=dict)

    def add(self, events: Iterable[CallEvent]) -> Versions:
        """Add events, in their order, and return itself."""
        for event in events:
            self._add(event)
        return self

    def _add(self, event: CallEvent) -> None:
        process = self._process(event)
        artifact = event.artifact
        match event.what:
            case "fork":
                self._fork(process, event)
            case "thread":
                self._processes[event.child] = process.number
            case "exit":
                self._exit(process, event)
            case "read":
                assert artifact is not None
                self._read(process, artifact, event)
            case "write" | "map":
                assert artifact is not None
                self._write(process, artifact, event)
                if event.what == "map":
                    process.mapped.append(artifact)
            case "exec":
                assert artifact is not None
                self._execute(process, artifact, event)
            case "connect":
                assert artifact is not None
                self.connected[process.number].add(artifact.name)
            case "accept":
                assert artifact is not None
                self._accept(artifact)
            case "unlink":
                assert artifact is not None
                self._forget(artifact.name)
            case "link":
                assert artifact is not None
                assert event.other is not None
                self._initial(artifact, event)
                self._keys[event.other.name] = self._key(artifact)
            case _:
                assert artifact is not None
                assert event.other is not None
                self._rename(process, artifact, event.other, event)

    # -- processes -------------------------------------------------------------------------

    def _process(self, event: CallEvent) -> _Process:
        number = self._processes.get(event.pid)
        if number is None:  # the first one, or one that the tracer did not see begin
            return self._begin(event.pid, 0, event.time)
        return self._states[number]

    def _begin(self, pid: int, parent: int, time: float) -> _Process:
        vertex = self._put(Vertex("process", "", 1, pid=pid, parent=parent, time=time))
        process = _Process(vertex, pid, parent, vertex)
        self._processes[pid] = vertex
        self._states[vertex] = process
        return process

    def _fork(self, parent: _Process, event: CallEvent) -> None:
        child = self._begin(event.child, parent.pid, event.time)
        before, after = self.vertices[parent.current], self.vertices[child.current]
        after.name, after.command = before.name, before.command
        self._join(parent.current, child.current)
        child.known = set(parent.known)
        child.mapped = list(parent.mapped)

    def _execute(self, process: _Process, artifact: Artifact, event: CallEvent) -> None:
        # Mappings end with the program that made them.
        self._flush(process, event)
        self._open(process, event)
        vertex = self.vertices[process.current]
        vertex.name, vertex.command = artifact.name.rpartition("/")[2], event.command
        self._read(process, artifact, event)

    def _exit(self, process: _Process, event: CallEvent) -> None:
        self._processes.pop(event.pid, None)
        if process.number not in self._processes.values():
            self._flush(process, event)

    def _flush(self, process: _Process, event: CallEvent) -> None:
        for artifact in process.mapped:
            self._write(process, artifact, event)
        process.mapped = []

    def _open(self, process: _Process, event: CallEvent) -> int:
        """Return the version of a process that may still read."""
        if process.current in self._frozen:
            old = self.vertices[process.current]
            new = Vertex("process", old.name, old.version + 1, old.pid, old.parent, old.command)
            new.time = event.time
            version = self._put(new)
            self._join(process.current, version)
            process.current = version
        return process.current

    # -- data ------------------------------------------------------------------------------

    def _read(self, process: _Process, artifact: Artifact, event: CallEvent) -> None:
        if artifact.kind == "file":
            self.read[process.number].add(artifact.name)
        version = self._arrived(artifact, event)
        if version in process.known:
            return
        self._join(version, self._open(process, event))
        process.known.add(version)

    def _write(self, process: _Process, artifact: Artifact, event: CallEvent) -> None:
        if artifact.kind == "file":
            self.written[process.number].add(artifact.name)
        new = self._new_version(process.current, artifact, event)
        self._join(process.current, new)
        vertex = self.vertices[new]
        if artifact.kind == "flow":
            where = (self._key(artifact), False)
            if vertex.last == 0:
                vertex.first = self._bytes[where]
            self._bytes[where] += event.count
            vertex.last = self._bytes[where]

    def _new_version(self, process: int, artifact: Artifact, event: CallEvent) -> int:
        """Return the version of an artifact that a process writes to."""
        if event.fresh:
            return self._version(artifact, event)
        old = self._initial(artifact, event) if artifact.kind == "file" else self._known(artifact)
        if old is None:
            return self._version(artifact, event)
        if process in self._sources[old]:
            return old
        # Readers of sent data are not seen; files from before the command keep their version.
        grows = artifact.kind != "flow" and bool(self._sources[old])
        if grows and old not in self._frozen:
            return old
        new = self._version(artifact, event)
        self._join(old, new)
        return new

    def _arrived(self, artifact: Artifact, event: CallEvent) -> int:
        """Return the version of an artifact that is read; for a flow, the sent or the arrived
        one.
        """
        if artifact.kind != "flow":
            return self._initial(artifact, event)
        key = self._key(artifact)
        where = (key, True)
        before, self._bytes[where] = self._bytes[where], self._bytes[where] + event.count
        if (sent := self._known(artifact)) is not None and not self.vertices[sent].received:
            return sent  # both ends are here
        current = self._current.get(key)
        # Data that arrives after the version was used makes a new version.
        if current is None or current in self._frozen:
            new = self._version(artifact, event)
            self.vertices[new].received = True
            self.vertices[new].first = before
            if current is not None:
                self._join(current, new)
            current = new
        self.vertices[current].last = self._bytes[where]
        return current

    # -- names -----------------------------------------------------------------------------

    def _accept(self, artifact: Artifact) -> None:
        """Start a new connection between two ends, if an earlier one was used."""
        protocol, _, ends = artifact.name.partition(" ")
        near, _, far = ends.partition("->")
        sent, arrived = artifact.name, f"{protocol} {far}->{near}"
        used = self._bytes.get((self._key(Artifact("flow", sent)), False), 0)
        if used or self._bytes.get((self._key(Artifact("flow", arrived)), True), 0):
            for name in (sent, arrived):
                kind, _, number = self._key(Artifact("flow", name))
                self._keys[f"flow {name}"] = (kind, name, number + 1)

    def _rename(
        self, process: _Process, artifact: Artifact, other: Artifact, event: CallEvent
    ) -> None:
        inside = artifact.name + "/"
        below = [name for name in self._keys if name.startswith(inside)]
        for name in below:  # a folder with files that are known
            self._move(process, name, other.name + "/" + name.removeprefix(inside), event)
        if not below:
            exchanged = self._initial(other, event) if event.what == "exchange" else None
            self._move(process, artifact.name, other.name, event)
            if exchanged is not None:
                new = self._version(artifact, event)
                self._join(exchanged, new)
                self._join(process.current, new)

    def _move(self, process: _Process, name: str, other: str, event: CallEvent) -> None:
        source = self._initial(Artifact("file", name), event)
        self._forget(name)
        self._forget(other)
        new = self._version(Artifact("file", other), event)
        self._join(source, new)
        self._join(process.current, new)
        self.written[process.number].add(other)

    def _forget(self, name: str) -> None:
        """Forget the file with a name: a later file with this name is a different one."""
        self._deleted[name] = self._key(Artifact("file", name))
        self._numbers["key", name] += 1
        self._keys[name] = ("file", name, self._numbers["key", name])

    def _key(self, artifact: Artifact) -> Key:
        name = artifact.name if artifact.kind == "file" else f"{artifact.kind} {artifact.name}"
        if artifact.deleted and name in self._deleted:
            return self._deleted[name]
        return self._keys.setdefault(name, (artifact.kind, artifact.name, 0))

    # -- versions --------------------------------------------------------------------------

    def last(self) -> dict[str, int]:
        """Return the last version of every file that still has its name, by path."""
        versions = {}
        for name, key in self._keys.items():
            if key[0] == "file" and key in self._current:
                versions[name] = self._current[key]
        return versions

    def _known(self, artifact: Artifact) -> int | None:
        return self._current.get(self._key(artifact))

    def _initial(self, artifact: Artifact, event: CallEvent) -> int:
        """Return the current version of an artifact, or its first version if it is new."""
        known = self._known(artifact)
        return self._version(artifact, event) if known is None else known

    def _version(self, artifact: Artifact, event: CallEvent) -> int:
        key = self._key(artifact)
        self._numbers[artifact.kind, key[1]] += 1
        number = self._numbers[artifact.kind, key[1]]
        self._current[key] = self._put(Vertex(artifact.kind, key[1], number, time=event.time))
        return self._current[key]

    def _put(self, vertex: Vertex) -> int:
        self.vertices.append(vertex)
        return len(self.vertices) - 1

    def _join(self, source: int, target: int) -> None:
        if source != target:
            self.edges[source, target] = None
            self._sources[target].add(source)
            self._frozen.add(source)


@dataclass(slots=True)
class _Process:
    """A process.

    Parameters
    ----------
    number
        The index of its first version.
    current
        The index of its last version.
    known
        The versions that it has read.
    mapped
        Files that it may write to until its program ends.
    """

    number: int
    pid: int
    parent: int
    current: int
    known: set[int] = field(default_factory=set)
    mapped: list[Artifact] = field(default_factory=list)
