"""Workflow files and stores of strangers: what they name is imported where that is allowed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from lipstick.cli import main
from lipstick.workflow import Workflow
from lipstick.workflow.definition.file import parse, text
from lipstick.workflow.errors import ImportNotAllowedError
from lipstick.workflow.examples import dealership

MODULE = "lipstick_test_stranger"
_FORM = """\
specifications:
  bids:
    input:
      Cars: {{columns: {{Model: string, Price: int}}}}
    output:
      Bids: {{columns: {{Model: string, Price: int}}}}
    functions: {functions}
    query_output:
      Bids: {query}
nodes: [bids]
inputs: [bids]
outputs: [bids]
"""
FILE = _FORM.format(
    functions=f"{{cheapest: '{MODULE}.code:cheapest'}}",
    query="SELECT Model, cheapest(collect_list(Price)) AS Price FROM Cars GROUP BY Model",
)
FRAMES = _FORM.format(functions="{}", query=f"{{function: '{MODULE}.code:frame'}}")
CODE = """\
from pathlib import Path
from pyspark.sql.functions import udf
from pyspark.sql.types import IntegerType
Path(__file__).with_name("ran").touch()
cheapest = udf(lambda prices: min(prices), IntegerType())
def frame(Cars):
    return Cars
"""


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module that can be imported, and leaves a file when it is."""
    folder = tmp_path / "path" / MODULE
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "code.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path / "path")
    yield folder
    for name in [name for name in sys.modules if name.startswith(MODULE)]:
        del sys.modules[name]


def _write(tmp_path: Path, document: str) -> Path:
    path = tmp_path / "w.yaml"
    path.write_text(document)
    return path


@pytest.mark.parametrize("document", [FILE, FRAMES], ids=["function of SQL", "of data frames"])
@pytest.mark.parametrize("imports", [(), False, ["other"], [f"{MODULE}.co"], [f"{MODULE}.code.x"]])
def test_nothing_is_imported_unless_it_is_allowed(
    code: Path, tmp_path: Path, document: str, imports: tuple[str, ...] | bool
) -> None:
    """Neither to check a workflow nor to run it; the error says how to allow it."""
    workflow = Workflow.read(_write(tmp_path, document), imports=imports)
    assert workflow.modules.keys() == {"bids"}
    how = rf"Workflow\.read\(path, imports=\['{MODULE}\.code'\]\)(.|\n)*--import {MODULE}\.code"
    with pytest.raises(ImportNotAllowedError, match=how):
        workflow.validate()
    with pytest.raises(ImportNotAllowedError, match=how):
        workflow.run(None, [], store=tmp_path / "store")
    assert not (tmp_path / "store").exists()
    assert not (code / "ran").exists()
    assert MODULE not in sys.modules


@pytest.mark.parametrize("document", [FILE, FRAMES], ids=["function of SQL", "of data frames"])
@pytest.mark.parametrize("imports", [True, [MODULE], [f"{MODULE}.code"], f"{MODULE}.code"])
def test_what_is_allowed_is_imported(
    code: Path, tmp_path: Path, document: str, imports: list[str] | bool | str
) -> None:
    """A module with those below it."""
    Workflow.read(_write(tmp_path, document), imports=imports).validate()
    assert (code / "ran").exists()


def test_on_the_command_line(code: Path, tmp_path: Path) -> None:
    """Also before inputs are read or Spark is started."""
    path = str(_write(tmp_path, FILE))
    for arguments in (
        ["validate", path],
        ["run", path, "--inputs", "none.yaml", "--store", str(tmp_path / "store")],
        ["validate", path, "--import", "other"],
    ):
        result = CliRunner().invoke(main, ["workflow", *arguments])
        assert result.exit_code == 2
        assert f"--import {MODULE}.code" in result.stderr
        assert not (code / "ran").exists()
    arguments = ["workflow", "validate", path, "--import", MODULE]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert (code / "ran").exists()


def test_a_place_that_is_not_allowed_is_written_as_it_was(code: Path, tmp_path: Path) -> None:
    """A workflow is the same, whatever may be imported."""
    for document in (FILE, FRAMES):
        path = _write(tmp_path, document)
        withheld, allowed = Workflow.read(path), Workflow.read(path, imports=True)
        assert withheld == allowed
        assert text(withheld) == text(allowed)
        again = parse(text(withheld), tmp_path / "again.yaml")
        with pytest.raises(ImportNotAllowedError):
            again.validate()
    assert not (code / "ran").exists()


def test_examples_of_ours_may_import_ours() -> None:
    dealership().validate()
    again = parse(text(dealership()), Path("dealership.yaml"))
    with pytest.raises(ImportNotAllowedError, match="lipstick\\.workflow\\.examples\\.dealers"):
        again.validate()


JAVA = "java.lang.System"
_RUNNING_CODE = {
    f"SELECT reflect('{JAVA}', 'getProperty', 'user.home') AS Model, 1 AS Price": JAVA,
    f"SELECT `java_method` ('{JAVA}', 'getProperty', Model) AS Model, 1 AS Price FROM Cars": "True",
    f"SELECT Try_Reflect('{JAVA}','getProperty',Model) AS Model, Price FROM Cars": JAVA,
    "SELECT reflect(Model, 'getProperty', 'a') AS Model, Price FROM Cars": "True",
    f"SELECT reflect /*'{JAVA}', 'x'*/('a.B', 'c') AS Model, Price FROM Cars": "True",
    "SELECT IDENTIFIER('ref' || 'lect')('a.B', 'c') AS Model, Price FROM Cars": "True",
    "SELECT TRANSFORM (Model, Price) USING 'cat' AS (Model, Price) FROM Cars": "True",
    "FROM Cars INSERT OVERWRITE DIRECTORY '/tmp/x' USING json SELECT *": "True",
    "SELECT '${env:HOME}' AS Model, Price FROM Cars": "True",
}


@pytest.mark.parametrize("sql", _RUNNING_CODE)
def test_sql_of_a_file_runs_nothing_but_queries(tmp_path: Path, sql: str) -> None:
    """Java methods, programs and writes are refused before Spark starts, tracked or not."""
    document = _FORM.format(functions="{}", query=f'"{sql}"')
    workflow = Workflow.read(_write(tmp_path, document))
    how = rf"imports=(\[')?{_RUNNING_CODE[sql]}"
    with pytest.raises(ImportNotAllowedError, match=how):
        workflow.validate()
    for tracked in (True, False):
        with pytest.raises(ImportNotAllowedError, match=how):
            workflow.run(None, [], store=tmp_path / "store", tracked=tracked)
    assert not (tmp_path / "store").exists()
    Workflow.read(tmp_path / "w.yaml", imports=True).check_imports()


def test_java_classes_are_allowed_by_name(tmp_path: Path) -> None:
    """As modules are, each by itself."""
    first = f"SELECT reflect('{JAVA}', 'getProperty', Model) AS Model, Price FROM Cars"
    path = _write(tmp_path, _FORM.format(functions="{}", query=f'"{first}"'))
    Workflow.read(path, imports=[JAVA]).check_imports()
    second = first.replace("Price", "reflect('a.B', 'c') AS Price")
    path = _write(tmp_path, _FORM.format(functions="{}", query=f'"{second}"'))
    with pytest.raises(ImportNotAllowedError, match=r"the Java method a\.B\.c"):
        Workflow.read(path, imports=[JAVA]).check_imports()


def test_ordinary_words_are_no_code(tmp_path: Path) -> None:
    sql = (
        "SELECT Model, Price FROM Cars JOIN Cars AS b USING (Model) WHERE Model <> 'insert' "
        "AND Model <> 'identifier' -- delete, merge"
    )
    Workflow.read(_write(tmp_path, _FORM.format(functions="{}", query=f'"{sql}"'))).check_imports()
