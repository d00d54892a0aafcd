"""A build by make and gcc, of more than 200 processes, is recorded as the tracer saw it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lipstick.systems.record import record, store_recordings
from tests.graphquery.federation.oracle import federation_of
from tests.lipstick.systems.record.oracle import raw_files
from tests.lipstick.systems.record.test_record import _meant, _node

FILES = 70
MAKEFILE = """
prog: main.o lib.a
\tgcc -o prog main.o lib.a
lib.a: {objects}
\tar rcs lib.a {objects}
%.o: %.c
\tgcc -c -o $@ $<
"""


def sources(folder: Path) -> None:
    """Write a program of many files."""
    for i in range(FILES):
        (folder / f"m{i}.h").write_text(f"int f{i}(int);\n")
        body = f'#include "m{i}.h"\nint f{i}(int x) {{ return x + {i}; }}\n'
        (folder / f"m{i}.c").write_text(f"#include <stdio.h>\n{body}")
    includes = "".join(f'#include "m{i}.h"\n' for i in range(FILES))
    calls = "".join(f"s += f{i}(s);" for i in range(FILES))
    (folder / "main.c").write_text(f"{includes}int main() {{ int s = 0; {calls} return s; }}\n")
    objects = " ".join(f"m{i}.o" for i in range(FILES))
    (folder / "Makefile").write_text(MAKEFILE.format(objects=objects))


@pytest.mark.slow
@pytest.mark.skipif(
    any(shutil.which(each) is None for each in ("strace", "make", "gcc", "ar")),
    reason="there is no strace, make, gcc or ar",
)
def test_a_build_is_recorded_as_the_tracer_saw_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    sources(work)
    monkeypatch.chdir(work)
    recording = record(["make", "-s", "-j2"], tmp_path / "raw")
    assert recording.code == 0
    assert recording.processes >= 200
    with (tmp_path / "raw").open(encoding="latin-1") as lines:
        read, written = raw_files(lines)
    pids = {place: vertex.pid for place, vertex in enumerate(recording.vertices)}
    for recorded, traced in ((recording.read, read), (recording.written, written)):
        told = {pids[place]: set(paths) for place, paths in recorded.items()}
        assert told == {pid: set(map(_meant, paths)) for pid, paths in traced.items() if paths}
    store = tmp_path / "store"
    store_recordings({store: recording})
    with federation_of({"host": store}) as federation:
        program = _node({"host": store}, "host", work / "prog")
        behind = federation.names(federation.ancestors(program))
        for i in range(FILES):
            assert any(f"/m{i}.c|" in name for name in behind), i
            assert any(f"/m{i}.h|" in name for name in behind), i
        source_file = next(name for name in behind if "/m7.c|" in name)
        made_of_it = federation.names(federation.descendants(source_file))
        assert any("/m7.o|" in name for name in made_of_it)
        assert not any("/m8.o|" in name for name in made_of_it)
