"""Runs a script unchanged, with doors at what reads and writes rows."""

from __future__ import annotations

import importlib.util
import linecache
import os
import shutil
import sys
import sysconfig
import tempfile
import traceback
import types
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any

from lipstick.systems.errors import ProgramFailedError
from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.notebooks import OPAQUE
from lipstick.systems.scripts.provenance import Order, ScriptProvenance, script_provenance
from lipstick.systems.scripts.running.pandas_doors import PandasDoors
from lipstick.systems.scripts.running.record import RecordedRun, open_run, version_of, versions_of
from lipstick.systems.scripts.running.recorder import RunRecorder

_OWN = str(Path(__file__).parent)


def failed(error: BaseException, path: Path, record: Path) -> ProgramFailedError:
    """The error of a run whose script raised another."""
    kept = f"What it did before is recorded in {record}."
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else 1
        said = "" if isinstance(error.code, int) else f"{error.code}\n"
        return ProgramFailedError(f"{path} ended by {shown(error)}.\n{kept}", said, code)
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    where = f", at line {lines[-1]}" if lines else ""
    return ProgramFailedError(
        f"{path} raised {shown(error)}{where}.\n{kept}", _as_python_shows(error), 1
    )


def shown(error: BaseException) -> str:
    """An exception in a line."""
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _as_python_shows(error: BaseException) -> str:
    """The traceback of an exception, without what runs the script and stands at its doors."""
    whole = traceback.TracebackException.from_exception(error)
    for each in _chained(whole):
        frames = [frame for frame in each.stack if not frame.filename.startswith(_OWN)]
        each.stack = traceback.StackSummary.from_list(frames)
    return "".join(whole.format())


def _chained(
    whole: traceback.TracebackException,
) -> Iterator[traceback.TracebackException]:
    """An exception, its causes, and what was being handled when they were raised."""
    waiting = [whole]
    for each in waiting:
        yield each
        waiting += [other for other in (each.__cause__, each.__context__) if other is not None]
        waiting += each.exceptions or []


_NOT_DATA = tuple(
    os.path.realpath(path)
    for path in {*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, "/proc", "/dev"}
)
_CODE = (".py", ".pyc", ".so")

_listening: list[OpenedFiles] = []
"""The runs that go on; the last one gets the events, since hooks cannot be taken away."""

_hooked: list[bool] = []


class OpenedFiles:
    """Records what a script opens until :meth:`close`."""

    def __init__(self, recorder: RunRecorder) -> None:
        self._recorder = recorder
        self._opened: dict[tuple[str, bool], tuple[tuple[str, int], ...]] = {}
        self._written: dict[int, str] = {}
        # Asked for while a file is opened, it would wait for itself where tempfile opens the file.
        self._temporary = os.path.realpath(tempfile.gettempdir())
        _listening.append(self)
        if not _hooked:
            _hooked.append(True)
            sys.addaudithook(_hook)

    def opened(self, path: str, *, writes: bool) -> None:
        """A file is opened."""
        full = os.path.realpath(path)
        if full.startswith(_NOT_DATA) or full.endswith(_CODE) or os.path.isdir(full):  # noqa: PTH112
            return
        if full.startswith(os.path.realpath(self._recorder.directory)):
            return
        if _is_of_spark(full, self._temporary):
            return
        if (full, writes) in self._opened:
            return
        self._opened[full, writes] = ()
        places = self._recorder.places()
        if not places:
            return
        if writes:
            # What will be in it is known when the script has ended.
            event = self._recorder.add("write", "python", path, inferred=NOT_FOLLOWED)
            self._opened[full, writes] = event.places
            self._written[event.number] = full
        else:
            with self._recorder.at_work():
                version = version_of(full)
            self._recorder.add("read", "python", path, files=(version,), inferred=NOT_FOLLOWED)

    def close(self) -> None:
        """Stop, and look at what was written."""
        _listening.remove(self)
        for number, path in self._written.items():
            event = self._recorder.events[number - 1]
            self._recorder.change(event, files=versions_of(path))


def _is_of_spark(path: str, temporary: str) -> bool:
    """Return True if a file is one by which PySpark and the JVM exchange rows."""
    if not path.startswith(temporary):
        return False
    first = path[len(temporary) :].lstrip("/").split("/")
    if any(part.startswith(("spark-", "blockmgr-", "pyspark-", "hsperfdata")) for part in first):
        return True
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if "/pyspark/" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


NOT_FOLLOWED = "what Python code does with a file is not followed row by row"


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _listening:
        return
    path, mode, flags = arguments
    current = _listening[-1]
    if not isinstance(path, str) or current._recorder.busy:
        return
    if mode is None:
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
    else:
        writes = any(letter in mode for letter in "wax+")
    with_importing = sys._getframe(1)
    while with_importing is not None:
        if "importlib" in with_importing.f_code.co_filename:
            return
        with_importing = with_importing.f_back  # type: ignore[assignment]
    current.opened(path, writes=writes)


def _make(directory: Path, overwrite: bool) -> None:
    """Make the directory of a record, in place of one that is there already if that may be."""
    if directory.exists():
        if not overwrite:
            raise ScriptError(
                f"{directory} exists already: a record is of one run.\n"
                "Give another directory (--record), or replace it (--overwrite)."
            )
        open_run(directory)  # only a record is removed
        shutil.rmtree(directory)
    directory.mkdir(parents=True)


def run_script(
    path: str | Path,
    arguments: Sequence[str] = (),
    *,
    record: str | Path | None = None,
    facts: Iterable[str | Path] = (),
    order: Order = "position",
    overwrite: bool = False,
) -> RecordedRun:
    """Run a script or notebook as it is, and keep where the rows that it writes come from.

    It runs in this process, as ``__main__`` and in the current folder, which is as before when it
    has ended. Frames of Spark that it writes or collects are annotated before that
    (:meth:`lipstick.Session.annotate`); a frame that cannot be annotated is written all the same,
    and the record has the reason why its rows are not followed.
    ``spark.stop()`` is put off to the end of the run.

    Parameters
    ----------
    arguments
        What the script finds in ``sys.argv`` behind its name.
    record
        The directory to make; None: ``<script>.run`` beside the script.
    overwrite
        Whether a record that is there already is replaced, once the script has been read.
    facts, order
        As of :func:`lipstick.systems.scripts.script_provenance`.

    Raises
    ------
    ScriptError
        Before anything runs: a script that cannot be read, or does not parse.
        Before anything runs: the record exists already. After the run: the script raised
        something (:class:`ProgramFailedError`); its record is complete up to there.
    """
    path = Path(path)
    directory = Path(record) if record is not None else path.with_name(f"{path.name}.run")
    directory = directory.absolute()  # Spark may have been started in another folder
    given = tuple(str(fact) for fact in facts)
    provenance = script_provenance(path, facts=given, order=order)
    _make(directory, overwrite)
    text = provenance.script.main.text
    (directory / "script.py").write_text(text, encoding="utf-8")
    recorder = RunRecorder(directory, provenance, _names(provenance, path))
    error: BaseException | None = None
    with _doors(recorder, provenance):
        error = _execute(path, text, arguments)
    run = RecordedRun(
        directory, str(path.absolute()), sha256(text.encode()).hexdigest(), tuple(arguments),
        given, order, tuple(recorder.events), None if error is None else shown(error),
    )  # fmt: skip
    run.write()
    if error is not None:
        if not isinstance(error, Exception | SystemExit):
            raise error
        raise failed(error, path, directory) from error
    return run


def _names(provenance: ScriptProvenance, path: Path) -> dict[str, str]:
    """By file names of code objects, the names of the script's files."""
    names = {str(path): provenance.script.main.name}
    for file in provenance.script.files[1:]:
        if file.path is not None:
            names[str(file.path.absolute())] = file.name
    return names


@contextmanager
def _doors(recorder: RunRecorder, provenance: ScriptProvenance) -> Iterator[None]:
    texts = [file.text for file in provenance.script.files]
    uses = {
        name
        for name in ("pandas", "pyspark")
        if any(name in text for text in texts) and importlib.util.find_spec(name) is not None
    }
    pandas = PandasDoors(recorder)
    spark = None
    if "pyspark" in uses:
        from lipstick.systems.scripts.running.spark_doors import SparkDoors

        spark = SparkDoors(recorder, pandas)
        spark.open()
    if uses:
        pandas.open()
    opened = OpenedFiles(recorder)
    try:
        yield
    finally:
        opened.close()
        recorder.restore()
        recorder.finish()
        if spark is not None:
            spark.close()


def _execute(path: Path, text: str, arguments: Sequence[str]) -> BaseException | None:
    """Run a text as ``__main__``; what it raises, unless it only ends."""
    code = compile(text, str(path), "exec")
    # Tracebacks show the lines that run, those of a notebook and after a change of folder, too.
    linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    module = types.ModuleType("__main__")
    module.__file__ = str(path)
    module.__dict__[OPAQUE] = _magic
    before = sys.modules["__main__"], sys.argv, list(sys.path)
    folder = Path.cwd()
    sys.modules["__main__"], sys.argv = module, [str(path), *arguments]
    sys.path.insert(0, str(path.absolute().parent))
    try:
        exec(code, module.__dict__)
    except SystemExit as ended:
        return None if ended.code in (None, 0) else ended
    except BaseException as error:
        return error
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = before
        os.chdir(folder)
    return None


def _magic(text: str) -> None:
    raise ScriptError(
        f"{text!r} is not Python: magics and commands of the shell run in a notebook alone.\n"
        "Take the cell out, or write what it does in Python."
    )
