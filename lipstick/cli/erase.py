"""``lipstick erase``: rows erased from tables with what rests on them, verified, with a receipt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import DAMAGED, Failure
from lipstick.cli.output import Answer, CommandGroup, json_option

if TYPE_CHECKING:
    from lipstick.histories import ReenactingSession

_KEYS = {"sources", "derived", "search", "drop", "spark"}
_PARTS = {"sources": ("table", "key"), "derived": ("query", "key", "path")}


@click.group(cls=CommandGroup)
def erase() -> None:
    """Erase rows from tables of Delta and Iceberg, and from the tables made of them.

    PIPELINE is a YAML file with the sections sources, derived, search, drop and spark
    (docs/tutorials/erasure.md).
    """


@erase.command()
@click.argument("pipeline", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option(
    "--where", metavar="SOURCE:CONDITION", multiple=True, required=True, help="Rows to erase."
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), required=True, help="The plan's file."
)
@click.option("--in-place", is_flag=True, help="Change the tables, not branches and copies.")
@json_option
def plan(
    pipeline: Path, where: tuple[str, ...], output: Path, in_place: bool, answer: Answer
) -> None:
    """Plan an erasure; nothing is changed."""
    described = _described(pipeline)
    delete = dict(_condition(text) for text in where)
    with _session(described) as session:
        for name, source in described.get("sources", {}).items():
            session.track(name, source.get("table"), key=source.get("key"))
        derived = described.get("derived", {})
        made = session.erase(
            delete,
            {name: each["query"] for name, each in derived.items()},
            key={name: each["key"] for name, each in derived.items() if "key" in each},
            paths={name: each["path"] for name, each in derived.items() if "path" in each},
            search=described.get("search", []),
            drop=described.get("drop", []),
            in_place=in_place,
            on_step=_say,
        )
        made.document["spark"] = described.get("spark", {})
        made.save(output)
        for entry in made.tables:
            answer.say(
                f"{entry['table']}: {entry['removed']} of {entry['rows']} rows go, "
                f"{entry['changed']} change, {entry['added']} are new ({entry['action']})"
            )
        for statement in made.statements:
            answer.say(f"  {' '.join(statement.split())}")
        searched = made.document["to_search"]
        answer.say(f"verify searches {searched['files']:,} files with {searched['bytes']:,} bytes.")
        statements = list(made.statements)
        answer.finish({"tables": made.tables, "statements": statements, "to_search": searched})


@erase.command()
@click.argument("plan", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@json_option
def apply(plan: Path, answer: Answer) -> None:
    """Run the statements of PLAN; after an interruption, the remaining ones."""
    from lipstick.erasure.plan import ErasurePlan

    document = _document(plan)
    with _session(document) as session:
        planned = ErasurePlan(session, document)
        planned.apply(_say)
        publish = [each for entry in document["tables"] for each in entry["effect"]["publish"]]
        for statement in publish:
            answer.say(f"To publish: {statement}")
        answer.finish({"publish": publish})


@erase.command()
@click.argument("plan", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    required=True,
    help="The file with the key that signs the receipt.",
)
@click.option("--receipt", type=click.Path(path_type=Path), required=True, help="The JSON receipt.")
@click.option("--page", type=click.Path(path_type=Path), help="The receipt, as HTML.")
@click.option("--search", multiple=True, help="A folder to search too; may be repeated.")
@click.option("--budget", type=float, help="Seconds for the search of files.")
@json_option
def verify(
    plan: Path,
    key: Path,
    receipt: Path,
    page: Path | None,
    search: tuple[str, ...],
    budget: float | None,
    answer: Answer,
) -> None:
    """Search for what PLAN erases, and sign a receipt. Exits with 1 unless it is all gone."""
    from lipstick.erasure.plan import ErasurePlan

    document = _document(plan)
    with _session(document) as session:
        made = ErasurePlan(session, document).verify(key, search, _say, budget=budget)
    made.save(receipt)
    if page is not None:
        page.write_text(made.page(), encoding="utf-8")
    answer.say(made.verdict)
    for finding in made.findings:
        answer.say(f"  {finding['state']}: {finding['path']} ({finding['place']})")
    for unsearched in made.unsearched:
        answer.say(f"  not searched: {unsearched['path']}: {unsearched['reason']}")
    for todo in made.to_do:
        answer.say(f"  to do: {todo}")
    answer.finish(
        {
            "verdict": made.verdict,
            "findings": made.findings,
            "not_searched": made.unsearched,
            "to_do": made.to_do,
        }
    )
    if made.verdict != "erased":
        raise SystemExit(DAMAGED)


@erase.command()
@click.argument("receipt", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--key", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--value", help="Tell whether this value was searched for.")
@json_option
def check(receipt: Path, key: Path, value: str | None, answer: Answer) -> None:
    """Check the signature of RECEIPT, without Spark. Exits with 1 if it is another's."""
    from lipstick.erasure.receipt import ErasureReceipt

    read = ErasureReceipt.read(receipt)
    genuine = read.check(key)
    known = value is None or read.concerns(key, value)
    answer.say("The signature is right." if genuine else "The signature is wrong.")
    if value is not None:
        answer.say("It is about this value." if known else "It is not about this value.")
    answer.finish({"genuine": genuine, "concerns_value": None if value is None else known})
    if not genuine or not known:
        raise SystemExit(DAMAGED)


def _say(step: str) -> None:
    click.echo(" ".join(step.split()), err=True)


def _condition(text: str) -> tuple[str, str]:
    source, found, condition = text.partition(":")
    if not found:
        raise Failure(f"{text!r} is not a condition on a source: write SOURCE:CONDITION.")
    return source.strip(), condition.strip()


def _described(path: Path) -> dict[str, Any]:
    import yaml

    from lipstick.workflow.definition.bounded_yaml import load

    try:
        described = load(path.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise Failure(f"{path} is not YAML: {error}") from error
    if not isinstance(described, dict) or not described.keys() <= _KEYS:
        raise Failure(f"{path} has sections other than {', '.join(sorted(_KEYS))}.")
    for section, parts in _PARTS.items():
        entries = described.get(section, {})
        if not isinstance(entries, dict) or not all(isinstance(e, dict) for e in entries.values()):
            raise Failure(f"{section!r} in {path} is not a mapping of names to mappings.")
        for name, entry in entries.items():
            for other in entry.keys() - set(parts):
                raise Failure(
                    f"{name!r} in {path} has {other!r}, which is none of {', '.join(parts)}.\n"
                    "In braces, put a query with commas in quotes."
                )
    without = [n for n, e in described.get("derived", {}).items() if "query" not in e]
    if without:
        raise Failure(f"{without[0]!r} in {path} has no query.")
    return described


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise Failure(f"{path} is not a plan of an erasure: {error}") from error
    if not isinstance(document, dict):
        raise Failure(f"{path} is not a plan of an erasure.")
    return document


@contextmanager
def _session(described: Mapping[str, Any]) -> Iterator[ReenactingSession]:
    """Start a session with the settings of Spark in a description."""
    from pyspark.sql import SparkSession

    import lipstick
    from lipstick.engines.spark.local_session import own_spark

    running = SparkSession.getActiveSession()
    with lipstick.session(running or own_spark(described.get("spark"))) as session:
        yield session
