"""``lipstick why``: from a wrong number or a failed check to the rows and predicates behind it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import Failure, in_commands
from lipstick.cli.output import JSON, TABLE, Answer, CommandGroup, answer_options
from semiring.errors import LipstickError

if TYPE_CHECKING:
    from lipstick.questions.checks.check import DataCheck
    from lipstick.questions.why.answer import Explanation
    from lipstick.sessions import Session

Command = Callable[..., None]


def _options(function: Command) -> Command:
    """Add the options of explanations."""
    for option in (
        click.option(
            "--top", metavar="N", default=0, help="Also show the N rows that matter most."
        ),
        click.option(
            "--relation",
            metavar="NAME",
            help="The relation of --top and --repairs; else that of the first cause.",
        ),
        click.option(
            "--repairs", metavar="N", default=0, help="Also show N smallest sets of rows to delete."
        ),
        click.option(
            "--corrections", is_flag=True, help="Also show other values that make it right."
        ),
        click.option(
            "--quarantine",
            metavar="FILE.PARQUET",
            type=click.Path(path_type=Path),
            help="Write the rows to set aside, with reasons.",
        ),
        click.option(
            "--budget",
            metavar="SECONDS",
            type=float,
            default=60.0,
            show_default=True,
            help="Seconds for the explanation.",
        ),
    ):
        function = option(function)
    return answer_options((TABLE, JSON))(function)


_tables = click.option(
    "--table",
    "tables",
    metavar="NAME=PATH[:KEY]",
    multiple=True,
    help="A relation: files, and the columns of its key (a,b); may be repeated.",
)


@click.group(cls=CommandGroup)
def why() -> None:
    """Explain a wrong number, or a failed check, by the rows and conditions behind it."""


@why.command()
@click.argument("capture", type=click.Path(path_type=Path))
@click.argument("column", required=False)
@click.option(
    "--where",
    metavar="COLUMN=VALUE",
    multiple=True,
    help="A value that selects the row; may be repeated.",
)
@click.option("--than", metavar="NUMBER|COLUMN=VALUE", help="What it should be, or another row.")
@click.option("--too", type=click.Choice(["high", "low"]), help="How the value is wrong.")
@_options
def value(
    capture: Path,
    column: str | None,
    where: tuple[str, ...],
    than: str | None,
    too: Any,
    **options: Any,
) -> None:
    """Explain the value of COLUMN in a row of a saved CAPTURE, without Spark.

    Without COLUMN the answer's rows are explained, which must not be there.
    """
    import lipstick

    other: Any = None
    if than is not None:
        other = named_values((than,)) if "=" in than else _number(than)
    opened = lipstick.open(capture)
    explanation = opened.why(
        column, named_values(where), than=other, too=too, budget=options["budget"]
    )
    options["answer"].finish(_explained(explanation, aside=[], **options))


@why.command()
@click.argument("query", required=False)
@click.option(
    "--dbt",
    metavar="TARGET",
    type=click.Path(path_type=Path),
    help="The target/ folder of a dbt project.",
)
@click.option(
    "--gx",
    metavar="SUITE.JSON",
    type=click.Path(path_type=Path),
    help="A suite of Great Expectations.",
)
@click.option(
    "--deequ", metavar="FILE", type=click.Path(path_type=Path), help="Constraints of Deequ."
)
@click.option(
    "--soda", metavar="CHECKS.YML", type=click.Path(path_type=Path), help="Checks of Soda."
)
@click.option(
    "--pandera",
    metavar="SCHEMA",
    type=click.Path(path_type=Path),
    help="A schema of Pandera, as YAML or JSON.",
)
@click.option("--over", metavar="NAME", help="The relation that expectations are about.")
@click.option(
    "--variable",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    help="A variable of checks of Soda; may be repeated.",
)
@_tables
@_options
def check(
    query: str | None,
    dbt: Path | None,
    gx: Path | None,
    deequ: Path | None,
    soda: Path | None,
    pandera: Path | None,
    over: str | None,
    variables: tuple[str, ...],
    tables: tuple[str, ...],
    **options: Any,
) -> None:
    """Explain why a check fails: QUERY is SQL, or a file with SQL, over the tables.

    Its rows must not be there. If it has one value in one row whatever the tables have, that is a
    truth value, which must be true, or a number of failures, which must be 0. With --dbt, --gx,
    --deequ, --soda or --pandera QUERY is a part of the name of a check in these documents; without
    it all checks about rows are run. Exits with 1 if one fails, but not if one only warns; and with
    2 if one cannot be run, after the others.
    """
    answer: Answer = options["answer"]
    options["aside"] = []  # rows of all checks
    documents = {
        "dbt": dbt,
        "great_expectations": gx,
        "deequ": deequ,
        "soda": soda,
        "pandera": pandera,
    }
    chosen: list[DataCheck] | None = None
    if any(documents.values()):
        chosen = _chosen(documents, query, over, named_values(variables))
    elif query is None:
        raise Failure("Give a query, or the checks of --dbt, --gx, --deequ, --soda or --pandera.")
    named = {table_option(table)[0] for table in tables}
    if missing := {r for each in chosen or () for r in each.relations} - named:
        raise Failure(
            f"The checks read {', '.join(sorted(missing))}: say where the data is, "
            "--table NAME=PATH[:KEY]."
        )
    with _session(tables) as session:
        if chosen is None:
            assert query is not None
            document = _run_query(query, session, **options)
            verdicts = {"passes" if document["passes"] else "fails"}
        else:
            checks = []
            for each in chosen:
                checks.append(_run(each, session, **options))
                answer.flush()
            document = {"checks": checks}
            verdicts = {each["verdict"] for each in checks}
        answer.finish(document)
    if verdicts & {"fails", "broken"}:
        raise SystemExit(2 if "broken" in verdicts else 1)


def _chosen(
    documents: Mapping[Any, Path | None],
    name: str | None,
    over: str | None,
    variables: Mapping[str, Any],
) -> list[DataCheck]:
    """Return the checks of the documents with a name; without one all that can be asked."""
    import lipstick

    checks = [
        each
        for tool, path in documents.items()
        if path is not None
        for each in lipstick.read_checks(path, tool, over, variables)
    ]
    if name is None:
        for each in checks:
            if each.refused is not None:
                click.echo(f"{each.name} is left out: {each.refused}", err=True)
        return [each for each in checks if each.refused is None]
    exact = [each for each in checks if each.name == name]
    chosen = exact or [each for each in checks if name in each.name]
    if not chosen:
        known = ", ".join(each.name for each in checks) or "none"
        raise Failure(f"No check is named {name!r}. There are: {known}.")
    return chosen


def _run(check: DataCheck, session: Session, answer: Answer, **options: Any) -> dict[str, Any]:
    """Run a check, and explain it if it fails or warns; return its part of the document."""
    from lipstick.display.number_text import spelled

    try:
        result = check.run(session)
        lines = [result.sentence]
        if check.recorded is not None and check.recorded != result.number:
            lines.append(f"The tool found {spelled(check.recorded)}: its data was another.")
        for line in lines:
            answer.say(line)
        why = {} if result.passed else _reasons(result.why, answer=answer, **options)
    except LipstickError as error:
        click.echo(f"{check.name} cannot be run: {error}", err=True)
        return {"check": check.name, "verdict": "broken", "sentence": str(error)}
    return {"check": check.name, "verdict": result.verdict, "sentence": " ".join(lines), **why}


def _reasons(why: Callable[..., Explanation], **options: Any) -> dict[str, Any]:
    """Return why a check fails; where that is not known, the check fails all the same."""
    try:
        explanation = why(budget=options["budget"])
    except LipstickError as error:
        click.echo(str(error), err=True)
        return {"refused": str(error)}
    return _explained(explanation, **options)


def _run_query(query: str, session: Session, answer: Answer, **options: Any) -> dict[str, Any]:
    """Run a query as a check; return the document of its answer."""
    import pyarrow as pa

    frame = session.sql(_query(query))
    rows = frame.capture.memory.answer()
    passes, why = rows.num_rows == 0, frame.why
    if frame.plan.root.has_one_row and rows.num_columns == 1:
        (column,), (value,) = rows.column_names, rows.column(0).to_pylist()
        kind = rows.schema.field(0).type
        if pa.types.is_boolean(kind):
            passes = value is True
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            answer.say(f"{column} is a number, and taken for that of failures: {value}.")
            passes, why = value == 0, partial(frame.why, column, than=0)
    if passes:
        answer.say("The check passes.")
        return {"passes": True}
    return {"passes": False, **_reasons(why, answer=answer, **options)}


@why.command("not")
@click.argument("query")
@click.argument("pattern", metavar="COLUMN=VALUE", nargs=-1)
@click.option("--condition", metavar="SQL", help="A condition on the columns of the answer.")
@_tables
@answer_options((TABLE, JSON))
def why_not(
    query: str,
    pattern: tuple[str, ...],
    condition: str | None,
    tables: tuple[str, ...],
    answer: Answer,
) -> None:
    """Explain why the answer of QUERY has no row with these values.

    QUERY is SQL, or a file with SQL, over the tables.
    """
    with _session(tables) as session:
        missing = session.sql(_query(query)).why_not(named_values(pattern), condition=condition)
        answer.say_lines(in_commands(str(missing)))
        document = {"question": missing.question, "present": missing.present}
        document |= {"reasons": missing.table.to_pylist(), "notes": list(missing.notes)}
        answer.finish(document)


@why.command("diff")
@click.argument("before")
@click.argument("after", required=False)
@_tables
@click.option(
    "--was",
    "old_tables",
    metavar="NAME=PATH[:KEY]",
    multiple=True,
    help="The earlier version of a table; may be repeated.",
)
@click.option("--key", metavar="COLUMN,...", help="The columns that identify a row of the answer.")
@click.option("--column", metavar="COLUMN", help="The number whose difference is divided.")
@click.option(
    "--where",
    metavar="COLUMN=VALUE",
    multiple=True,
    help="A value that selects its row; may be repeated.",
)
@click.option("--markdown", is_flag=True, help="Print a report for a pull request.")
@answer_options((TABLE, JSON))
def difference(
    before: str,
    after: str | None,
    tables: tuple[str, ...],
    old_tables: tuple[str, ...],
    key: str | None,
    column: str | None,
    where: tuple[str, ...],
    markdown: bool,
    answer: Answer,
) -> None:
    """Explain the difference of two runs: of queries BEFORE and AFTER, of two versions, or both.

    BEFORE and AFTER are SQL, or files with SQL, over the tables; without AFTER the text is the
    same. Two texts over the same tables are also run over a small database on which they differ.
    Exits with 1 if the answers differ.
    """
    differs = False
    with _session(tables) as now:
        import lipstick
        from lipstick.questions.diff.report import DifferenceReport

        with lipstick.session(now.spark) as then:
            was = {table_option(table)[0].lower(): table for table in (*tables, *old_tables)}
            for table in was.values() if old_tables else ():
                name, location, own = table_option(table)
                then.track(name, location, key=own)
            first = (then if old_tables else now).sql(_query(before))
            second = now.sql(_query(after or before))
            rows = named_values(where)
            report = DifferenceReport.of(first, second, columns_of(key), column, rows)
        differs = not report.difference.is_empty
        if answer.format == JSON:
            answer.send_json(report.document(answer.limit))
        else:
            answer.say(report.markdown(answer.limit) if markdown else report.text(answer.limit))
            answer.send_table()
    if differs:
        raise SystemExit(1)


def _query(text: str) -> str:
    """Return SQL, or that of a file."""
    sql = Path(text).read_text("utf-8") if text.endswith(".sql") else text
    return sql.rstrip().rstrip(";")


@contextmanager
def _session(tables: tuple[str, ...]) -> Iterator[Session]:
    """Open a session in which files are tracked."""
    import lipstick

    with lipstick.session() as session:
        for table in tables:
            name, location, key = table_option(table)
            session.track(name, location, key=key)
        yield session


def named_values(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return values by name, from texts ``COLUMN=VALUE``."""
    named = {}
    for text in texts:
        name, found, written = text.partition("=")
        if not found:
            raise Failure(f"{text!r} names no row: write COLUMN=VALUE.")
        try:
            named[name.strip()] = json.loads(written)
        except ValueError:
            named[name.strip()] = written.strip()
    return named


def columns_of(key: str | None) -> list[str] | None:
    """Return the columns of an option ``COLUMN,...``."""
    return None if key is None else [column.strip() for column in key.split(",")]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Failure(f"{text!r} is not a number, and names no row by COLUMN=VALUE.") from None


def table_option(text: str) -> tuple[str, str, list[str] | None]:
    """Return the name, the path and the key of an option ``NAME=PATH[:KEY]``."""
    name, found, rest = text.partition("=")
    if not found:
        raise Failure(f"{text!r} is not a table: write NAME=PATH, or NAME=PATH:KEY.")
    location, colon, key = rest.rpartition(":")
    if not colon or "/" in key:
        return name, rest, None
    return name, location, columns_of(key)


def _explained(
    explanation: Explanation,
    top: int,
    relation: str | None,
    repairs: int,
    corrections: bool,
    quarantine: Path | None,
    answer: Answer,
    aside: list[Any],
    **_: Any,
) -> dict[str, Any]:
    """Put an explanation, and what else is asked for, in an answer; return the document of it."""
    most = explanation.top(top, relation).to_pylist() if top else []
    sets = explanation.repairs(repairs, relation) if repairs else None
    corrected = explanation.corrections() if corrections else []
    if quarantine is not None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        aside.append(explanation.quarantine(relation))
        pq.write_table(pa.concat_tables(aside, promote_options="permissive"), quarantine)
    document: dict[str, Any] = {
        "question": explanation.question,
        "complete": explanation.complete,
        "causes": explanation.table.to_pylist(),
    }
    answer.say_lines(in_commands(str(explanation)))
    if top:
        document["top"] = most
        answer.table(most)
    if sets is not None:
        rows = [each.to_pylist() for each in sets.sets]
        document["repairs"] = {"size": sets.size, "count": sets.count, "sets": rows}
        answer.say(str(sets))
        for each_set in rows:
            answer.table(each_set)
    if corrections:
        document["corrections"] = [
            {"sentence": each.sentence, "after": each.after, "values": each.values.to_pylist()}
            for each in corrected
        ]
        for each in corrected:
            answer.say(each.sentence)
    return document
