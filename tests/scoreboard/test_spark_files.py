"""Files of statements: where these end, what directives do, and what tables say of outcomes."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.oracle.rows import OrderKey
from tests.scoreboard.spark.command import CASES, spark
from tests.scoreboard.spark.order import order_keys
from tests.scoreboard.spark.outcome import Outcome, Verdict, append, findings, read, table
from tests.scoreboard.spark.script import is_query, read_script, split


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';' AS a; SELECT 2", ["SELECT ';' AS a", "SELECT 2"]),
        (r"SELECT 'it\';s'; SELECT ''';'", [r"SELECT 'it\';s'", "SELECT ''';'"]),
        (r"SELECT r'\'; SELECT 2", [r"SELECT r'\'", "SELECT 2"]),
        ('SELECT `a;b`; SELECT "c;d"', ["SELECT `a;b`", 'SELECT "c;d"']),
        ("-- a; b\nSELECT 1 -- c; d\n;\n-- end", ["SELECT 1 -- c; d"]),
        ("/* a; /* b; */ c; */ SELECT 1;;", ["SELECT 1"]),
        ("SELECT /*+ HINT(t) */ 1; /*+ no hint */", ["SELECT /*+ HINT(t) */ 1", "/*+ no hint */"]),
        ("SELECT $$a;b$$; FROM t", ["SELECT $$a;b$$", "FROM t"]),
        ("", []),
    ],
)
def test_statements_end_at_semicolons_that_are_no_text(source: str, expected: list[str]) -> None:
    assert list(split(source)) == expected


@pytest.mark.parametrize(
    "text", ["select 1", "(TABLE t)", "WITH a AS (VALUES (1)) FROM a", "from t"]
)
def test_queries_are_told_by_their_first_word(text: str) -> None:
    assert is_query(text)
    assert not is_query(f"CREATE VIEW v AS {text}")
    assert not is_query("SET a = 1")


def test_directives_import_and_set_and_enclose(tmp_path: Path) -> None:
    (tmp_path / "tables.sql").write_text("CREATE VIEW t AS VALUES (1);\n")
    (tmp_path / "cases.sql").write_text(
        "--IMPORT tables.sql\n--SET a.b=1, c.d = x\n"
        "TABLE t;\n"
        "--QUERY-DELIMITER-START\nBEGIN SET x = 1; SELECT x; END;\n--QUERY-DELIMITER-END\n"
        "TABLE t;\n"
    )
    script = read_script(tmp_path / "cases.sql")
    assert script.settings == {"a.b": "1", "c.d": "x"}
    texts = [statement.text for statement in script.statements]
    block = "BEGIN SET x = 1; SELECT x; END"
    assert texts == ["CREATE VIEW t AS VALUES (1)", "TABLE t", block, "TABLE t"]
    first, second = (statement.key for statement in script.statements if statement.is_query)
    assert first != second, "the same text after another statement is another case"


def test_a_key_is_the_same_until_something_before_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "cases.sql"
    path.write_text("CREATE VIEW t AS VALUES (1);\nTABLE t;\nSELECT 2;")
    [_, first, two] = read_script(path).statements
    path.write_text("CREATE VIEW t AS VALUES (1);\nSELECT 3;\nTABLE t;\nSELECT 2;")
    assert [statement.key for statement in read_script(path).statements[2:]] == [first.key, two.key]
    path.write_text("CREATE VIEW t AS VALUES (7);\nTABLE t;")
    assert read_script(path).statements[1].key != first.key


def test_outcomes_are_kept_and_counted(tmp_path: Path) -> None:
    kept = tmp_path / "some" / "spark.jsonl"
    annotated = Outcome(
        "a", 1, "k1", "TABLE t", Verdict.ANNOTATED, deletions=2, changed=1, offline=2
    )
    refused = Outcome("a", 2, "k2", "FROM t", Verdict.REFUSED, "read", "no 'x'\nDo y.")
    for outcome in (refused, annotated, Outcome("b", 1, "k1", "SELECT", Verdict.REJECTED)):
        append(kept, outcome)
    append(kept, Outcome("a", 2, "k2", "FROM t", Verdict.WRONG, "df", "rows 12 differ"))
    kept_outcomes = read(kept)
    assert kept_outcomes["a/k1"] == annotated
    assert kept_outcomes["a/k2"].verdict is Verdict.WRONG, "the last outcome counts"
    text = table(kept_outcomes.values())
    assert "| a | 2 | 1 | 0 | 1 | 0 | 0 | 1 of 2 | 2 of 2 |" in text
    assert "| **all** | 2 | 1 | 0 | 1 | 0 | 1 | 1 of 2 | 2 of 2 |" in text
    assert "1 of 2 statements annotated (50.0 %)." in text
    assert refused.cause == "no …"
    report = findings([refused, annotated])
    assert "refused at read, 1: no …" in report
    assert "FROM t;" in report
    assert "TABLE t" not in report


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a, b FROM t", None),
        ("SELECT a, b FROM t ORDER BY b DESC, 1", (OrderKey(1, True, False), OrderKey(0))),
        ("SELECT a, b FROM t ORDER BY a NULLS LAST", (OrderKey(0, False, False),)),
        ("SELECT a, b FROM t ORDER BY a + 1", ()),
        ("SELECT -a AS a, b FROM t ORDER BY t.a", ()),
        ("SELECT t.a, b FROM t ORDER BY t.a", (OrderKey(0),)),
        ("FROM t |> ORDER BY a", (OrderKey(0),)),
    ],
)
def test_the_outermost_order_is_read(sql: str, expected: tuple[OrderKey, ...] | None) -> None:
    assert order_keys(sql, ("a", "b")) == expected


def test_every_case_file_has_queries_and_no_query_twice() -> None:
    files = sorted(CASES.glob("*.sql"))
    assert files
    for path in files:
        keys = [statement.key for statement in read_script(path).statements if statement.is_query]
        assert keys, path.name
        assert len(set(keys)) == len(keys), f"{path.name} has a query twice"


def test_verdicts_are_asked_for_by_their_words(tmp_path: Path) -> None:
    cases, output = tmp_path / "a.sql", tmp_path / "out"
    cases.write_text("SELECT 1;")
    [statement] = read_script(cases).statements
    done = Outcome("a", 1, statement.key, statement.text, Verdict.ANNOTATED)
    append(output / "spark.jsonl", done)
    options = [str(cases), "--output", str(output), "--again", "refused"]
    result = CliRunner().invoke(spark, options)
    assert result.exit_code == 0, result.output
    assert "1 of 1 statements annotated" in result.output
