"""Emitting provenance from a job: plain Python, several processes, or functions of PySpark.

An :class:`Emitter` writes messages into a folder; each process has a file that appears once it is
complete, so that a reducer may read the folder while the job runs. It only imports the standard
library, and is pickled with the functions that use it.
"""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from semiring.support.door import checked

VERSION = 1
_BUFFER = 1 << 16
ROLL = 64 << 20
_texts = json.JSONEncoder(ensure_ascii=False).encode


@checked
class Emitter:
    """Emits the provenance of one topic into a folder.

    To be used as a context, separately in every process: a copy in another process, or an unpickled
    one, opens a file of its own.

    Parameters
    ----------
    folder
        The folder, created if missing. Files appear under their names once complete.
    topic
        The computation.
    worker
        The name of the process in messages; by default the host and the process id.
    roll
        Number of characters after which a file is published and a new one begins.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        topic: str,
        *,
        worker: str | None = None,
        roll: int = ROLL,
    ) -> None:
        self.folder = Path(folder)
        self.topic = topic
        self.roll = roll
        self._size = 0
        self._worker = worker
        self._file: TextIO | None = None
        self._owner: int | None = None
        self._name = ""
        self._head = ""

    def __getstate__(self) -> dict[str, Any]:
        return {
            "folder": self.folder,
            "topic": self.topic,
            "worker": self._worker,
            "roll": self.roll,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        folder, topic = state["folder"], state["topic"]
        Emitter.__init__(self, folder, topic, worker=state["worker"], roll=state["roll"])

    def __enter__(self) -> Emitter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def record(
        self,
        function: str,
        execution: str,
        uses: Sequence[str],
        generates: Sequence[str],
        *,
        readers: int | None = None,
        inputs: bool = False,
        keep: bool = False,
    ) -> None:
        """Emit a finished execution as one message: its used and generated entities.

        A retry that sends the same again is recognised, and counts once.

        Parameters
        ----------
        function
            The function that is executed.
        execution
            Its identifier; the same for every attempt.
        uses, generates
            Identifiers of entities, each once.
        readers
            The number of executions that will use each generated entity: 0 for outputs, 1 for
            shuffled records; None if unknown.
        inputs
            Whether the used entities are inputs of the computation, which no execution generates.
        keep
            Whether the generated entities stay in the reduced graph even if they are read again.
        """
        name = _texts(execution)
        edges = [f'[{name},{_texts(each)},"used"]' for each in uses]
        edges += [f'[{_texts(each)},{name},"wasGeneratedBy"]' for each in generates]
        counts = f'"causes":1,"uses":{len(uses)},"generations":{len(generates)}'
        if readers is not None:
            counts += f',"readers":{readers}'
        if inputs:
            counts += ',"used_causes":0'
        if keep:
            counts += ',"keep":true'
        self._write(
            f'"kind":"edges","exec":{name},"seq":0,"function":{_texts(function)},'
            f'"event_time":{_now()},"edges":[{",".join(edges)}],"counts":{{{counts}}}'
        )

    def send(self, function: str, execution: str, edges: str) -> None:
        """Emit edges in the form of a JSON list, as one message of a finished execution."""
        name = _texts(execution)
        self._write(
            f'"kind":"edges","exec":{name},"seq":0,"function":{_texts(function)},'
            f'"event_time":{_now()},"edges":{edges}'
        )

    def execution(self, function: str, execution: str, attempt: int = 0) -> Execution:
        """Begin an execution that may be retried, to be used as a context.

        Its messages count when the block is left without an exception.

        Parameters
        ----------
        attempt
            The number of the attempt, from 0: Spark's `TaskContext` knows it.
        """
        return Execution(self, function, execution, attempt)

    def seal(
        self,
        function: str | None = None,
        *,
        used: int | None = None,
        generated: int | None = None,
    ) -> None:
        """Declare that a function, or without one the computation, is finished.

        Parameters
        ----------
        used, generated
            The total number of entities that all its executions used, and generated, if known.
            Without totals, nothing is closed before the end of the stream.
        """
        given = {"used": used, "generated": generated}
        stated = {name: number for name, number in given.items() if number is not None}
        counts = f',"counts":{json.dumps(stated)}' if stated else ""
        name = "" if function is None else f'"function":{_texts(function)},'
        self._write(f'"kind":"sealed",{name}"event_time":{_now()}{counts}')

    def close(self) -> None:
        """Publish the file; the next message begins a new one."""
        if self._file is not None and self._owner == os.getpid():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            hidden = Path(self._file.name)
            hidden.rename(self.folder / self._name)
        self._file = None

    def _write(self, rest: str) -> None:
        if self._file is None or self._owner != os.getpid():
            self._open()  # one that another process has open is that process's to close
        assert self._file is not None
        self._size += self._file.write(f"{self._head}{rest}}}\n")
        if self._size >= self.roll:
            self.close()

    def _open(self) -> None:
        """Open a file that readers of the folder do not see yet."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._owner, self._size = os.getpid(), 0
        worker = self._worker or f"{socket.gethostname()}-{self._owner}"
        self._name = f"{worker}-{uuid.uuid4().hex[:12]}.jsonl"
        hidden = self.folder / f".{self._name}.tmp"
        self._file = hidden.open("w", encoding="utf-8", buffering=_BUFFER)
        topic = _texts(self.topic)
        self._head = f'{{"version":{VERSION},"topic":{topic},"worker":{_texts(worker)},'


@checked
class Execution:
    """An attempt of an execution; see `Emitter.execution`."""

    def __init__(self, emitter: Emitter, function: str, execution: str, attempt: int) -> None:
        self._emitter = emitter
        self._own = _texts(execution)
        self._head = f'"exec":{self._own},"function":{_texts(function)},"attempt":{attempt},'
        self._sent = self._uses = self._generations = 0

    def use(self, entities: Iterable[str], *, inputs: bool = False) -> None:
        """Emit that it used entities; see `Emitter.record`."""
        edges = [f'[{self._own},{_texts(each)},"used"]' for each in entities]
        self._uses += len(edges)
        self._send(edges, '{"used_causes":0}' if inputs else "{}")

    def generate(
        self, entities: Iterable[str], *, readers: int | None = None, keep: bool = False
    ) -> None:
        """Emit that it generated entities; see `Emitter.record`."""
        edges = [f'[{_texts(each)},{self._own},"wasGeneratedBy"]' for each in entities]
        self._generations += len(edges)
        counts = '"causes":1'
        if readers is not None:
            counts += f',"readers":{readers}'
        if keep:
            counts += ',"keep":true'
        self._send(edges, f"{{{counts}}}")

    def derive(
        self,
        edges: Iterable[tuple[str, str]],
        *,
        readers: int | None = None,
        causes: int | None = None,
        inputs: bool = False,
        keep: bool = False,
    ) -> None:
        """Emit that entities were derived from others, each edge once.

        This states the pairs, and replaces `use` and `generate`, if not all generated entities
        derive from all used ones.

        Parameters
        ----------
        edges
            Pairs of a derived entity and its origin.
        causes
            The number of origins of each derived entity; None if unknown.
        readers, inputs, keep
            See `Emitter.record`; for all derived entities, and all origins.
        """
        pairs = [[derived, origin, "wasDerivedFrom"] for derived, origin in edges]
        self.send_derived(_texts(pairs)[1:-1], readers, causes, inputs=inputs, keep=keep)

    def send_derived(
        self,
        edges: str,
        readers: int | None = None,
        causes: int | None = None,
        *,
        inputs: bool = False,
        keep: bool = False,
    ) -> None:
        """Emit derivations in the form of JSON edges separated by commas."""
        declared = {
            "readers": readers,
            "causes": causes,
            "used_causes": 0 if inputs else None,
            "keep": keep or None,
        }
        known = {name: value for name, value in declared.items() if value is not None}
        self._send([edges] if edges else [], _texts(known))

    def __enter__(self) -> Execution:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            counts = (
                f'"uses":{self._uses},"generations":{self._generations},"messages":{self._sent}'
            )
            self._emitter._write(
                f'"kind":"end",{self._head}"seq":{self._sent},"event_time":{_now()},'
                f'"counts":{{{counts}}}'
            )

    def _send(self, edges: list[str], counts: str) -> None:
        if edges:
            self._emitter._write(
                f'"kind":"edges",{self._head}"seq":{self._sent},"event_time":{_now()},'
                f'"edges":[{",".join(edges)}],"counts":{counts}'
            )
            self._sent += 1


def _now() -> int:
    return time.time_ns() // 1000
