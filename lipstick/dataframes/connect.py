"""The text of a data frame over Spark Connect, from the plan that its client has."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql.types import StringType, StructField

from lipstick.dataframes.connect_group_functions import with_ordinary_operators, with_stated_pivots
from lipstick.dataframes.connect_proof import at_one_time, comparable, reads_clock
from lipstick.dataframes.hidden import marked_by_hand
from lipstick.dataframes.messages import client_of, frame_of, plan_of, relation_of, rewritten
from lipstick.dataframes.streaming import check_connect
from lipstick.dataframes.texts import ANOTHER_MEANING, FUNCTION_PREFIX, named_relation
from lipstick.errors import SourceChangedError, first_line
from lipstick.stages.settings import temporary_settings
from lipstick.tracking.tracker import mark_of
from rewriter.errors import NotUnderstoodError, QueryError, UnsupportedError
from rewriter.frames import connect_plan
from rewriter.frames.connect_plan import is_local_sort, may_be_marked
from rewriter.frames.writing.rows import condition, is_percentage
from rewriter.frames.writing.selects import unsupported

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lipstick.dataframes.messages import Message
    from lipstick.tracking.tracker import Tracked


_PLACEMENTS = ("collect_metrics", "hint", "repartition", "repartition_by_expression")
"""Relations that say where rows are computed, or what is observed of them, not which they are."""
_COMPUTED_WHILE_PLANNING = "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"
_SETTINGS = {
    "spark.sql.debug.maxToStringFields": "2147483000",
    "spark.sql.maxMetadataStringLength": "2147483000",
    "spark.sql.optimizer.excludedRules": _COMPUTED_WHILE_PLANNING,
    "spark.sql.optimizer.collapseProjectAlwaysInline": "true",
}
_OPTIMISED = re.compile(r"(?ms)^== Optimized Logical Plan ==\n(.*?)^== Physical Plan ==")


def connect_text(spark: SparkSession, frame: DataFrame, tracked: Sequence[Tracked]) -> str:
    """Return the text of a frame, proven by Spark's explanations of both.

    Where Spark reads another query in it, each relation is written as a derived table of its own.

    Raises
    ------
    NotUnderstoodError
        With the first line of the optimised plans that differs.
    """
    relation = with_ordinary_operators(spark, relation_of(spark, frame))
    relation = with_stated_pivots(spark, relation)
    sources = [relation_of(spark, candidate.source.frame) for candidate in tracked]
    respell(spark, relation, sources)
    known: dict[str, list[Tracked]] = {}
    for candidate, source in zip(tracked, sources, strict=True):
        known.setdefault(plan_key(source), []).append(candidate)
    by_name = {candidate.name.lower(): candidate for candidate in tracked}
    used = list(_mark_relations(relation, known, by_name))
    _check_files(frame, used)
    if frame.isStreaming:
        check_connect(relation)
    _register_functions(spark, relation)
    relation = with_filters(relation, partial(_schema, spark))
    relation = rewritten(relation, partial(_in_order, spark))
    relation = rewritten(relation, partial(_without_marks, spark))
    names = [candidate.name for candidate in tracked]
    schema_of = partial(_schema, spark)
    written = connect_plan.written_out(relation, schema_of)
    text = connect_plan.query_text(written, names, schema_of)
    try:
        _prove(spark, relation, text)
    except NotUnderstoodError:
        with suppress(QueryError):
            text = connect_plan.query_text(written, names, schema_of, literal=True)
            _prove(spark, relation, text)
            return text
        raise
    return text


def _schema(spark: SparkSession, relation: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the names and types of the columns of a relation.

    Raises
    ------
    UnsupportedError
        Where the relation cannot be analysed without the one that it is laterally joined to.
    """
    try:
        fields = client_of(spark).schema(plan_of(relation)).fields
    except PySparkException as error:
        reason = first_line(error)
        raise UnsupportedError(
            f"in this data frame, Spark cannot tell the columns of a part alone: {reason}",
            "In a lateral join, give an alias() to each expression of the frame that refers to the "
            "other one.",
        ) from error
    return [(field.name, field.dataType.jsonValue()) for field in fields]


def respell(spark: SparkSession, relation: Message, sources: list[Message]) -> None:
    """Give the files in a relation the spelling of their path that they have in some sources."""
    known: dict[str, list[Message]] = {}
    for read in _file_reads(sources):
        known.setdefault(_key_of_files(read), []).append(read)
    for read in _file_reads(relation):
        alike = known.get(_key_of_files(read), [])
        if alike and read not in alike:
            listed = _listed(spark, read)
            read.update(next((each for each in alike if _listed(spark, each) == listed), {}))


def _file_reads(value: Any) -> Iterator[Message]:
    """Yield the reads of files by their path in a relation, except in streams."""
    if isinstance(value, list):
        for part in value:
            yield from _file_reads(part)
    elif isinstance(value, dict):
        if "paths" in value.get("data_source", ()) and not value.get("is_streaming"):
            yield value
        yield from _file_reads(list(value.values()))


def _key_of_files(read: Message) -> str:
    return plan_key(read | {"data_source": read["data_source"] | {"paths": []}})


def _listed(spark: SparkSession, read: Message) -> tuple[set[str], Any]:
    """Return the files that Spark reads, and the columns that it makes of them."""
    frame = frame_of(spark, {"common": {}, "read": read})
    return set(frame.inputFiles()), frame.schema


def plan_key(relation: Message) -> str:
    """Return what two relations that read the same have in common."""
    return json.dumps(_without_common(relation), sort_keys=True)


def _without_common(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_common(part) for k, part in value.items() if k != "common"}
    return [_without_common(part) for part in value] if isinstance(value, list) else value


def _mark_relations(
    value: Any, known: Mapping[str, Sequence[Tracked]], by_name: Mapping[str, Tracked]
) -> Iterator[Tracked]:
    """Mark the relations that are a tracked one, from the top down; yield those."""
    if isinstance(value, list):
        for part in value:
            yield from _mark_relations(part, known, by_name)
    elif isinstance(value, dict):
        relation = _table(value, by_name)
        alike = known.get(plan_key(value), ()) if relation is None and "common" in value else ()
        if alike:
            relation = named_relation(alike)
        if relation is not None:
            value["tracked"] = {"name": relation.name, "columns": list(relation.columns)}
            yield relation
        else:
            yield from _mark_relations(list(value.values()), known, by_name)


def _table(relation: Message, by_name: Mapping[str, Tracked]) -> Tracked | None:
    read = relation.get("read")
    table = read.get("named_table", {}) if isinstance(read, dict) else {}
    return by_name.get(table.get("unparsed_identifier", "").replace("`", "").lower())


def _check_files(frame: DataFrame, used: Sequence[Tracked]) -> None:
    """Refuse a frame that reads files which its relations had not when they were tracked."""
    for relation in used:
        table = relation.source.version
        if table is not None and table.current() != relation.source.versions[0].version:
            raise SourceChangedError(
                f"This data frame reads {table.table} as it is now, and {relation.name!r} is "
                f"{relation.source.description}.\nTrack the version that the frame reads."
            )
    files = {state[0] for relation in used for state in relation.source.fingerprint}
    if (
        used
        and all(relation.source.fingerprint for relation in used)
        and set(frame.inputFiles()) - files
    ):
        names = ", ".join(sorted({relation.name for relation in used}))
        raise SourceChangedError(
            f"This data frame reads other files than {names} had when tracked.\n"
            "Untrack them, then track them again."
        )


def _register_functions(spark: SparkSession, value: Any) -> None:
    """Register the Python functions of a plan, and call them by their names."""
    if isinstance(value, list):
        for part in value:
            _register_functions(spark, part)
        return
    if not isinstance(value, dict):
        return
    for part in value.values():
        _register_functions(spark, part)
    function = value.pop("common_inline_user_defined_function", None)
    if function is not None:
        call = {"function_name": _registered(spark, function)}
        value["unresolved_function"] = {**call, "arguments": function.get("arguments", [])}


def _registered(spark: SparkSession, function: Message) -> str:
    import hashlib

    from google.protobuf.json_format import ParseDict
    from pyspark.sql.connect.proto import CommonInlineUserDefinedFunction

    definition = {k: v for k, v in function.items() if k not in ("arguments", "function_name")}
    digest = hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()[:16]
    name = f"{FUNCTION_PREFIX}{digest}"
    if not spark.catalog.functionExists(name):
        client = client_of(spark)
        request = client._execute_plan_request_with_metadata()
        message = ParseDict(
            {**definition, "function_name": name}, CommonInlineUserDefinedFunction()
        )
        request.plan.command.register_function.CopyFrom(message)
        client._execute(request)
    return name


def _prove(spark: SparkSession, relation: Message, text: str) -> None:
    names = [name for name, _ in _schema(spark, relation)] if reads_clock(relation) else None
    with temporary_settings(spark, _SETTINGS):
        frame_plan = _explained(spark, at_one_time(_compared(spark, relation), names))
        try:
            other = relation_of(spark, spark.sql(text))
            text_plan = _explained(spark, at_one_time(_compared(spark, other), names))
        except PySparkException as error:
            reason = first_line(error)
            problem = f"The text made of this data frame is not a query of Spark's: {reason}"
            raise NotUnderstoodError(problem, ANOTHER_MEANING, text) from error
    if frame_plan != text_plan:
        pairs = zip(frame_plan.splitlines(), text_plan.splitlines(), strict=False)
        frame_line, other_line = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
        raise NotUnderstoodError(
            f"This data frame is not understood: Spark plans\n  {frame_line.strip()[:160]}\n"
            f"and of the text made of it\n  {other_line.strip()[:160]}\nThe text is\n{text}",
            ANOTHER_MEANING,
        )


def _in_order(spark: SparkSession, value: Message) -> Message:
    """Return a relation whose ``replace`` has its values in the order in which Spark compares them.

    No two are equal, so that any order has the same meaning; that of Spark's plan can be proven.
    """
    message = value.get("replace")
    if "common" in value and message and len(message["replacements"]) > 1:
        plan = client_of(spark).explain_string(plan_of(value), "extended")
        places = [
            plan.find(f" = {connect_plan.shown(replacement['old_value'])}) THEN")
            for replacement in message["replacements"]
        ]
        pairs = sorted(zip(places, message["replacements"], strict=True), key=itemgetter(0))
        value["replace"] = {**message, "replacements": [replacement for _, replacement in pairs]}
    return value


def _compared(spark: SparkSession, value: Any) -> Any:
    """Return a plan without operators that only place rows, and with ``dropna`` as a filter."""
    if isinstance(value, list):
        return [_compared(spark, part) for part in value]
    if not isinstance(value, dict):
        return value
    if "tracked" in value:
        return {key: part for key, part in value.items() if key != "tracked"}
    if "common" in value:
        if connect_plan.sorted_before_draws(value) is not None:
            (kind,) = value.keys() - {"common"}
            message = {**value[kind], "input": {}}
            below = value[kind]["input"]
            kept = {**below, "sort": _compared(spark, below["sort"])}
            return {**value, kind: {**_compared(spark, message), "input": kept}}
        if "drop_na" in value:
            value = connect_plan.present(value, _schema(spark, value["drop_na"]["input"]))
        elif placement := _placement(value):
            # A condition that is dropped: columns may refer to the number of the relation.
            every = {"literal": {"boolean": True}}
            kept = {"input": value[placement]["input"], "condition": every}
            value = {"common": value["common"], "filter": kept}
    return {key: _compared(spark, part) for key, part in value.items()}


def _placement(relation: Message) -> str | None:
    """Return the kind of a relation if it does not say which rows there are."""
    if connect_plan.is_local_sort(relation):
        return "sort"
    return next((kind for kind in _PLACEMENTS if kind in relation), None)


def _explained(spark: SparkSession, relation: Message) -> str:
    """Return the optimised plan of a relation and its types, in comparable form."""
    client, plan = client_of(spark), plan_of(relation)
    text = client.explain_string(plan, "extended")
    match = _OPTIMISED.search(text)
    if match is None:
        raise NotUnderstoodError(
            f"Spark cannot plan this data frame: {text[:300]}", ANOTHER_MEANING
        )
    return comparable(match[1]) + str(client.schema(plan).simpleString())


_LISTS = {
    "aggregate": ("grouping_expressions", "aggregate_expressions"),
    "project": ("expressions",),
    "with_columns": ("aliases",),
}


def _without_marks(spark: SparkSession, value: Message) -> Message:
    """Return a relation in which names with metadata are given to calls where columns have marks.

    Raises
    ------
    UnsupportedError
        The metadata are marks themselves.
    """
    kind = next((name for name in _LISTS if name in value), None) if "common" in value else None
    if kind is not None:
        value[kind] = _relation(spark, value[kind], kind)
    return value


def _relation(spark: SparkSession, message: Message, kind: str) -> Message:
    items = [_name(item, kind) for field in _LISTS[kind] for item in message.get(field, [])]
    marked = [item for item in items if item is not None and may_be_marked(item["expr"])]
    if not marked or not _has_marks(spark, message, marked):
        return message
    for name in marked:
        call = {"function_name": "coalesce", "arguments": [name["expr"]]}
        name["expr"] = {"unresolved_function": call}
    return message


def _name(item: Message, kind: str) -> Message | None:
    """Return the naming that an item is, if it gives metadata of its own."""
    alias = item if kind == "with_columns" else item.get("alias", {})
    metadata = json.loads(alias.get("metadata") or "{}")
    if mark_of(StructField("", StringType(), metadata=metadata)) is not None:
        raise marked_by_hand(".".join(alias["name"]))
    return alias if kind == "with_columns" or "metadata" in alias else None


def _has_marks(spark: SparkSession, message: Message, names: list[Message]) -> bool:
    """Return True if a name may be given to a time window, or to a column with marks."""
    if not all("unresolved_attribute" in item["expr"] for item in names):
        return True
    fields = client_of(spark).schema(plan_of(message["input"])).fields
    return any(mark_of(field) is not None for field in fields)


_WITHOUT_ORDER = ("interval", "map", "variant")

Schema = Callable[["Message"], Sequence[tuple[str, Any]]]


def with_filters(value: Any, schema_of: Schema) -> Any:
    """Return a plan without such samples. What tracked relations are made of is kept.

    Raises
    ------
    UnsupportedError
        ``randomSplit`` of several columns of one name.
    """
    if isinstance(value, list):
        return [with_filters(part, schema_of) for part in value]
    if not isinstance(value, dict) or "tracked" in value:
        return value
    value = {key: with_filters(part, schema_of) for key, part in value.items()}
    sample = value.get("sample")
    if "common" not in value or not sample or sample.get("with_replacement"):
        return value
    bounds = float(sample.get("lower_bound", 0)), float(sample["upper_bound"])
    seed, rows = int(sample["seed"]), sample["input"]
    if sample.get("deterministic_order"):
        rows = _sorted(rows, schema_of(rows))
    elif is_percentage(bounds, seed) and not is_local_sort(rows):
        return value
    text = {"expression_string": {"expression": condition(bounds, seed)}}
    return {"common": value["common"], "filter": {"input": rows, "condition": text}}


def _sorted(rows: Message, schema: Sequence[tuple[str, Any]]) -> Message:
    """Return rows as ``randomSplit`` sorts them in each task: by all columns with an order."""
    taken = Counter(name.lower() for name, _ in schema)
    if max(taken.values(), default=0) > 1:
        raise unsupported(
            "randomSplit() of several columns of one name has no rule",
            "Give them names of their own.",
        )
    order = [
        {
            "child": {"unresolved_attribute": {"unparsed_identifier": _quoted(name)}},
            "direction": "SORT_DIRECTION_ASCENDING",
            "null_ordering": "SORT_NULLS_FIRST",
        }
        for name, kind in schema
        if _has_order(kind)
    ]
    return {"common": {}, "sort": {"input": rows, "order": order, "is_global": False}}


def _has_order(kind: Any) -> bool:
    """Return True if Spark sorts by a type, as ``DataType.jsonValue`` has it."""
    if not isinstance(kind, dict):
        return kind not in _WITHOUT_ORDER
    if kind["type"] == "struct":
        return all(_has_order(field["type"]) for field in kind["fields"])
    if kind["type"] == "array":
        return _has_order(kind["elementType"])
    return kind["type"] not in _WITHOUT_ORDER


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
