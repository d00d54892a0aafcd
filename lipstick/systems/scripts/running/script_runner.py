"""Runs a script unchanged, with doors at what reads and writes rows."""

from __future__ import annotations

import importlib.util
import linecache
import os
import shutil
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from lipstick.systems.scripts.errors import RunScriptError
from lipstick.systems.scripts.notebooks import OPAQUE
from lipstick.systems.scripts.provenance import Order, ScriptProvenance, script_provenance
from lipstick.systems.scripts.running.failure import failed, shown
from lipstick.systems.scripts.running.opened_files import OpenedFiles
from lipstick.systems.scripts.running.pandas_doors import PandasDoors
from lipstick.systems.scripts.running.record import Run, open_run
from lipstick.systems.scripts.running.recorder import Recorder


def run_script(
    path: str | Path,
    arguments: Sequence[str] = (),
    *,
    record: str | Path | None = None,
    facts: Iterable[str | Path] = (),
    order: Order = "position",
    overwrite: bool = False,
) -> Run:
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
    RunScriptError
        Before anything runs: the record exists already. After the run: the script raised
        something (:class:`ScriptFailedError`); its record is complete up to there.
    """
    path = Path(path)
    directory = Path(record) if record is not None else path.with_name(f"{path.name}.run")
    directory = directory.absolute()  # Spark may have been started in another folder
    given = tuple(str(fact) for fact in facts)
    provenance = script_provenance(path, facts=given, order=order)
    if directory.exists():
        if not overwrite:
            raise RunScriptError(
                f"{directory} exists already: a record is of one run.\n"
                "Give another directory (--record), or replace it (--overwrite)."
            )
        open_run(directory)  # only a record is removed
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    text = provenance.script.main.text
    (directory / "script.py").write_text(text, encoding="utf-8")
    recorder = Recorder(directory, provenance, _names(provenance, path))
    error: BaseException | None = None
    with _doors(recorder, provenance):
        error = _execute(path, text, arguments)
    run = Run(
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
def _doors(recorder: Recorder, provenance: ScriptProvenance) -> Iterator[None]:
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
    raise RunScriptError(
        f"{text!r} is not Python: magics and commands of the shell run in a notebook alone.\n"
        "Take the cell out, or write what it does in Python."
    )
