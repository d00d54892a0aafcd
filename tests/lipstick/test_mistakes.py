"""Ordinary mistakes: each ends in an error of ours, of at most four lines, with the next step."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from json import loads
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick import Session, semirings, session
from lipstick.errors import InvalidQueryError, LipstickError, UnknownKeyWarning
from rewriter.errors import QueryError
from tests.versions import VERSION

MOST_LINES = 4
PACKAGES = ("graphquery", "lipstick", "rewriter", "semiring")
QUERY = "SELECT model, count(*) AS n FROM cars GROUP BY model"


@pytest.fixture(scope="module")
def ls(spark: SparkSession) -> Iterator[Session]:
    with session(spark) as opened:
        rows = [("C1", "Civic", 10), ("C2", "Civic", 20), ("C3", "Accord", 30)]
        frame = spark.createDataFrame(rows, "id string, model string, price int")
        opened.track("cars", frame, key="id")
        yield opened


@pytest.fixture(autouse=True)
def as_users_see_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIPSTICK_TRACEBACK", raising=False)


def shown(call: Callable[[], Any], capsys: pytest.CaptureFixture[str] | None) -> LipstickError:
    """Return the error of a call, which a terminal shows by the caller's line and one of ours.

    Parameters
    ----------
    capsys
        Nothing else is printed; None: Spark's log may be.
    """
    with pytest.raises(LipstickError) as caught:
        call()
    error = caught.value
    assert len(str(error).splitlines()) <= MOST_LINES, error
    notebook = error._render_traceback_()
    assert len("".join(notebook).splitlines()) <= MOST_LINES
    text = "".join(traceback.format_exception(error))
    assert "direct cause" not in text
    assert "During handling" not in text
    modules = [
        str(frame.f_globals["__name__"]).partition(".")[0]
        for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    assert len([name for name in modules if name in PACKAGES]) == 1
    assert not {"pyspark", "py4j"} & set(modules)
    if capsys is not None:
        output = capsys.readouterr()
        assert (output.out, output.err) == ("", "")
    return error


# -- texts ---------------------------------------------------------------------------------------

TEXTS = {
    "SELECT modle FROM cars": ("There is no column 'modle' at 1:8", "Did you mean model?"),
    "SELECT cars.modle\nFROM cars": ("no column 'cars.modle' at 1:8", "Did you mean cars.model"),
    "SELECT id\nFROM cars\nWHERE prise > 3": ("no column 'prise' at 3:7", "Did you mean price?"),
    "WITH t AS (SELECT modl FROM cars) TABLE t": ("no column 'modl' at 1:19", "mean model?"),
    "SELECT zzz FROM cars": ("no column 'zzz' at 1:8", "There are id, model, price."),
    "SELECT * FROM crs": ("There is no table or view 'crs' at 1:15", "Did you mean cars?"),
    "SELECT * FROM nowhere.at_all": ("no table or view 'nowhere.at_all'", "There are cars."),
    "SELECT summ(price) FROM cars": ("There is no function 'summ' at 1:8", "Did you mean sum"),
    "SELECT model FROM cars WHRE price > 3": ("near 'price' at 1:29", "PARSE_SYNTAX_ERROR"),
    "SELECT 'abc FROM cars": ("at 1:8", "PARSE_SYNTAX_ERROR"),
    "SELECT model, FROM cars": ("at 1:15", ""),
    "SELECT (model FROM cars": ("near 'FROM' at 1:15", "PARSE_SYNTAX_ERROR"),
    "SELCT model FROM cars": ("near 'SELCT' at 1:1", "PARSE_SYNTAX_ERROR"),
    "SELECT price AND true FROM cars": ("data type mismatch", "BINARY_OP_DIFF_TYPES"),
    "SELECT explode(model) FROM cars": ("data type mismatch", "UNEXPECTED_INPUT_TYPE"),
    "SELECT model, sum(price) FROM cars": ("GROUP BY", "MISSING_GROUP_BY"),
    "SELECT model FROM cars WHERE sum(price) > 3": ("WHERE", "INVALID_WHERE_CONDITION"),
    "SELECT id FROM cars a JOIN cars b ON a.id = b.id": ("is ambiguous", "AMBIGUOUS_REFERENCE"),
    "SELECT id FROM cars UNION SELECT id, model FROM cars": ("UNION", "NUM_COLUMNS_MISMATCH"),
    "SELECT sum(price, 2, 3) FROM cars": ("requires 1 parameters", "WRONG_NUM_ARGS"),
    "SELECT model FROM cars LIMIT -1": ("-1", "INVALID_LIMIT_LIKE_EXPRESSION"),
    "SELECT * FROM cars WHERE model = :m": ("unbound parameter: m", "UNBOUND_SQL_PARAMETER"),
    "SELECT lag(price) FROM cars": ("OVER clause", "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE"),
    "SELECT CAST(model AS foo) FROM cars": ("FOO", "UNSUPPORTED_DATATYPE"),
    "SELECT * FROM parquet.`/no/such`": ("/no/such", "PATH_NOT_FOUND"),
}
"""Texts that Spark does not accept, with words of what our error says is wrong, and of its end."""


@pytest.mark.parametrize("text", TEXTS)
def test_texts_that_spark_does_not_accept(
    ls: Session, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What, the place with a caret, and the nearest names or the condition to search for."""
    error = shown(lambda: ls.sql(text), capsys)
    assert isinstance(error, InvalidQueryError)
    what, end = TEXTS[text]
    message = str(error)
    assert what in message
    assert end in message.splitlines()[-1]
    assert " at " not in message.splitlines()[0] or "^" in message
    for noise in ("SQLSTATE", "Project", "org.apache", "; line"):
        assert noise not in message


def test_a_table_that_was_dropped_after_it_was_tracked(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    with session(spark) as opened:
        spark.sql("CREATE TABLE dropped_cars USING parquet AS SELECT 1 AS id, 2 AS price")
        opened.track("dropped_cars", key="id")
        q = opened.sql("SELECT sum(price) AS s FROM dropped_cars")
        spark.sql("DROP TABLE dropped_cars")
        error = shown(lambda: opened.sql("SELECT max(price) FROM dropped_cars"), capsys)
        assert "It was dropped after it was tracked: make it again, or untrack(" in str(error)
        assert "Did you mean" not in str(error)
        error = shown(lambda: q.what_if({"dropped_cars": [1]}), capsys)
        assert "'dropped_cars' (table dropped_cars) cannot be read any more: The" in str(error)


@pytest.mark.skipif(VERSION < (4, 3), reason="Spark has such types since 4.3")
def test_types_that_pyspark_cannot_read(ls: Session, spark: SparkSession, tmp_path: Path) -> None:
    text = "SELECT id, CAST('2020-01-01 00:00:00.123456789' AS timestamp_ntz(9)) AS at FROM cars"
    times = pa.table({"id": [1], "at": pa.array([1], pa.timestamp("ns"))})
    pq.write_table(times, tmp_path / "times.parquet", version="2.6")
    spark.conf.set("spark.sql.timestampNanosTypes.enabled", "true")
    try:
        with lipstick.watch(spark) as watch:
            read = spark.read.parquet(str(tmp_path))
            read.show()
            asked: list[Callable[[], Any]] = [
                lambda: ls.sql(text),
                lambda: ls.annotate(spark.sql(text)),
                lambda: ls.track("times", str(tmp_path)),
                lambda: ls.track("times", read, key="id"),
                lambda: watch.last.query,
            ]
            for call in asked:
                error = shown(call, None)
                name = (
                    "timestamp_ntz(9)"
                    if hasattr(spark, "_jsparkSession")
                    else "timestamp_ntz_nanos"
                )
                assert f"type {name}, which this version of PySpark cannot" in str(error)
                assert "CAST(x AS TIMESTAMP_NTZ)" in str(error)
    finally:
        spark.conf.unset("spark.sql.timestampNanosTypes.enabled")


# -- rows ----------------------------------------------------------------------------------------

FAILING = {
    "SELECT id, 10 / (price - 10) AS q FROM cars": ("Division by zero", "DIVIDE_BY_ZERO"),
    "SELECT sum(CAST(model AS int)) AS n FROM cars": ("cannot be cast", "CAST_INVALID_INPUT"),
    "SELECT id, array(1, 2)[price] AS a FROM cars": ("out of bounds", "INVALID_ARRAY_INDEX"),
    "SELECT sum(9223372036854775807L) AS n FROM cars": ("overflow", "ARITHMETIC_OVERFLOW"),
    "SELECT (SELECT id FROM cars) AS a FROM cars": ("More than one row", "SCALAR_SUBQUERY"),
}
"""Texts that fail at rows in Spark, with words of what our error says failed, and of its end."""

QUESTIONS: dict[str, Callable[[Any, Path], Any]] = {
    "polynomials": lambda q, _: list(q.polynomials()),
    "lineage": lambda q, _: q.lineage(),
    "evaluate": lambda q, _: q.algebra.evaluate(semirings.Counting()),
    "what_if": lambda q, _: q.what_if(delete={"cars": ["C3"]}),
    "save": lambda q, folder: q.save(folder / "saved"),
    "write": lambda q, folder: q.write.parquet(folder / "rows"),
}


@pytest.mark.many(6)
@pytest.mark.parametrize("text", FAILING)
@pytest.mark.parametrize("asked", QUESTIONS)
def test_texts_that_fail_at_rows(ls: Session, text: str, asked: str, tmp_path: Path) -> None:
    """What failed, and the condition to search for."""
    q = ls.sql(text)
    error = shown(lambda: QUESTIONS[asked](q, tmp_path), None)
    what, end = FAILING[text]
    assert isinstance(error, QueryError)
    assert what in str(error).splitlines()[0]
    assert end in str(error).splitlines()[-1]
    assert error.condition is not None
    assert error.condition.startswith(end)


def test_functions_that_fail_at_rows(ls: Session) -> None:
    """What the function raised, and where; its own code is the cause, which is shown."""

    def failing(number: int) -> int:
        raise ValueError(f"not {number}")

    ls.spark.udf.register("failing", failing, "int")
    q = ls.sql("SELECT failing(price) AS f FROM cars WHERE id = 'C1'")
    with pytest.raises(QueryError, match=r"^ValueError: not 10\nPython raised") as caught:
        list(q.polynomials())
    assert "in failing (line " in str(caught.value)
    assert isinstance(caught.value.__cause__, PythonException)


# -- arguments -----------------------------------------------------------------------------------


CALLS: dict[str, tuple[Callable[[Any, Any, Any], Any], str]] = {
    "a class for a semiring": (
        lambda _ls, q, _: q.algebra.evaluate(semirings.Counting),
        "Write Counting(): an instance, and not the class.",
    ),
    "a name for a semiring": (
        lambda _ls, q, _: q.algebra.evaluate("counting"),
        "Write Counting().",
    ),
    "no semiring": (lambda _ls, q, _: q.algebra.evaluate(5), "a Semiring (AccessControl | Boolean"),
    "a misspelt parameter": (lambda _ls, q, _: q.what_if(deleted={}), "Did you mean delete?"),
    "a key for a list of keys": (
        lambda _ls, q, _: q.what_if(delete={"cars": "C2"}),
        "For the row with this key write ['C2'].",
    ),
    "a number for a list of keys": (lambda _ls, q, _: q.what_if(delete={"cars": 2}), "write [2]."),
    "a key for a list of keys of a capture": (
        lambda _ls, _q, cap: cap.what_if(delete={"cars": "C2"}),
        "For the row with this key write ['C2'].",
    ),
    "a missing row of a capture": (
        lambda _ls, _q, cap: cap.why_not({"model": "Jazz"}),
        "ls.sql(capture.query).why_not(...)",
    ),
    "rows of a capture": (lambda _ls, _q, cap: cap.show(), "Write print(capture.df)."),
    "a tensor of no column": (lambda _ls, q, _: q.algebra.tensors("modle"), "mean model?"),
    "a misspelt column in a condition": (
        lambda _ls, q, _: q.what_if(delete={"cars": "modle = 'Civic'"}),
        "modle",
    ),
    "a column for a condition": (
        lambda _ls, q, _: q.filter(F.col("n") > 1),
        "Write the condition as text of SQL",
    ),
    "a condition for a column": (
        lambda _ls, q, _: q.where("n > 1"),
        "Rows are selected by filter().",
    ),
    "a data frame for an annotated one": (
        lambda _ls, q, _: q.diff(q.df),
        "It should be: AnnotatedFrame | Capture.",
    ),
    "a row that is not there": (
        lambda _ls, q, _: q.why("n", {"model": "Jazz"}),
        "why_not explains why a row is not there.",
    ),
    "a row of several": (lambda _ls, q, _: q.why("n"), "where={...}"),
    "an unknown relation": (lambda _ls, q, _: q.what_if(delete={"car": ["C2"]}), "cars"),
    "a misspelt column in a filter": (lambda _ls, q, _: q.filter("modle = 1"), "mean model?"),
    "no text": (lambda ls, _q, _: ls.sql(None), "It should be: str."),
    "too many arguments": (lambda ls, _q, _: ls.sql("SELECT 1", None, 3), "It is called"),
    "no arguments": (lambda ls, _q, _: ls.track(), "It is called"),
    "an untracked relation": (lambda ls, _q, _: ls.untrack("car"), "cars"),
}


@pytest.mark.parametrize("mistake", CALLS)
def test_arguments(
    ls: Session, mistake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call, words = CALLS[mistake]
    q = ls.sql(QUERY)
    captured = lipstick.open(q.capture.directory)
    capsys.readouterr()
    assert words in str(shown(lambda: call(ls, q, captured), capsys))


def test_what_a_deletion_does_not_concern_is_said(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """The relation is tracked, and the query reads another one."""
    with session(spark) as both:
        for name in ("cars", "dealers"):
            both.track(name, spark.createDataFrame([(1, "x")], "id int, model string"), key="id")
        q = both.sql(QUERY)
        with pytest.warns(UnknownKeyWarning, match="does not read 'dealers'; that changes nothing"):
            found = q.what_if(delete={"dealers": "id = 1"})
        assert {row["_change"] for row in found.changes.collect()} == {"unchanged"}
        capsys.readouterr()
        error = shown(lambda: q.what_if(delete={"dealers": [1]}, strict=True), capsys)
        assert "The query does not read 'dealers'." in str(error)


def test_captures_lack_what_they_do_not_have(ls: Session) -> None:
    capture = lipstick.open(ls.sql(QUERY).capture.directory)
    assert not hasattr(capture, "why_not")
    with pytest.raises(AttributeError, match="'Capture' object has no attribute 'mean'"):
        capture.mean  # noqa: B018


def test_semirings_that_there_are_not() -> None:
    with pytest.raises(AttributeError, match=r"no semiring 'Trust'\. There are: .*Counting, "):
        semirings.Trust  # noqa: B018


# -- what a terminal shows -------------------------------------------------------------------------


def test_a_defect_shows_all_calls() -> None:
    """Errors that are not raised on purpose keep the calls below the public one."""
    from semiring.support.door import checked

    @checked
    def broken(rows: list[int]) -> int:
        return inner(rows)

    def inner(rows: list[int]) -> int:
        return rows[7]

    with pytest.raises(IndexError) as caught:
        broken([])
    names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(caught.tb)]
    assert names[-3:] == ["broken", "broken", "inner"]


def test_a_cause_is_shown_where_it_is_the_users() -> None:
    """A function of the user's that failed, but no error of Python's own."""
    from semiring.errors import ValuationError
    from semiring.support.door import checked

    def fail() -> None:
        raise ZeroDivisionError

    ours = {"__name__": "semiring.example", "ValuationError": ValuationError}
    exec(
        "def call(function):\n"
        "    try:\n        function()\n"
        "    except Exception as error:\n"
        "        raise ValuationError('The function failed.') from error\n",
        ours,
    )
    call = checked(ours["call"])
    for function, kind in ((fail, ZeroDivisionError), (partial(loads, "{"), None)):
        with pytest.raises(ValuationError) as caught:
            call(function)
        assert type(caught.value.__cause__) is (kind or type(None))
        names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(caught.tb)]
        assert names[1:] == ["call"]


def test_without_pyspark_one_line_says_so() -> None:
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "import lipstick\n"
        "try:\n    lipstick.session()\n"
        "except lipstick.errors.LipstickError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("PySpark is not installed."), done.stderr
