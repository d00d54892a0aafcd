"""The checks of Pandera for PySpark: of columns, of schemas and of data frames."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

RULES: dict[str, tuple[Any, str | None]] = {
    "customer_id: not_nullable": (None, "customer_id IS NULL"),
    "tongue: equal_to(de)": ("equal_to", "tongue != 'de'"),
    "quantity: not_equal_to(0)": ("not_equal_to", "quantity = 0"),
    "amount: greater_than(0)": ("greater_than", "amount <= 0"),
    "quantity: greater_than_or_equal_to(1)": ("greater_than_or_equal_to", "quantity < 1"),
    "amount: less_than(1000)": ("less_than", "amount >= 1000"),
    "amount: less_than_or_equal_to(999)": ("less_than_or_equal_to", "amount > 999"),
    "quantity: in_range(1, 9)": ("in_range", "quantity NOT BETWEEN 1 AND 9"),
    "status: isin(['new', 'paid', 'sent'])": ("isin", "status = 'lost?'"),
    "money: notin(['ZZZ'])": ("notin", "money = 'ZZZ'"),
    "note: str_startswith('{\"')": ("str_startswith", "note = '{gift'"),
    "note: str_endswith('}')": ("str_endswith", "note = '{gift'"),
    "email: str_contains('@')": ("str_contains", "email NOT LIKE '%@%'"),
    "region: str_matches('DE-B')": ("str_matches", "region = 'DE-ZZ'"),
    "code: str_length(3, 3)": ("str_length", "length(code) != 3"),
    "land: unique_values_eq(['DE'])": ("unique_values_eq", None),
    "refund: own": ("own", "refund IS NOT NULL"),
    "None: unique": (None, "ticket IN (SELECT ticket FROM o GROUP BY ticket HAVING count(*) > 1)"),
    "None: late": ("late", "sent < day"),
    "audited: column_in_dataframe": (None, None),
}
"""By check: its name, and SQL of the rows that fail; None: not by rows."""

_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "equal_to": ("de",),
    "not_equal_to": (0,),
    "greater_than": (0,),
    "greater_than_or_equal_to": (1,),
    "less_than": (1000,),
    "less_than_or_equal_to": (999,),
    "in_range": (1, 9),
    "isin": (["new", "paid", "sent"],),
    "notin": (["ZZZ"],),
    "str_startswith": ('{"',),
    "str_endswith": ("}",),
    "str_contains": ("@",),
    "str_matches": ("DE-B",),
    "str_length": (3, 3),
    "unique_values_eq": (["DE"],),
}
_SHOWN: dict[str, str] = {}


def validate(frame: DataFrame, kinds: list[str], watch: Any) -> Any:
    """Return the frame, validated."""
    import pandera.pyspark as pa

    columns: dict[str, list[Any]] = {}
    nullable = dict.fromkeys(frame.columns, True)
    whole = []
    for kind in kinds:
        column, check = kind.split(":")[0], RULES[kind][0]
        if check == "own":
            made = pa.Check(
                lambda data: data.where("refund IS NOT NULL").count() == 0,
                name="own",
                error="own",
            )
        elif check == "late":
            whole.append(
                pa.Check(
                    lambda data: data.where("sent < day").count() == 0, name="late", error="late"
                )
            )
            continue
        elif check is None:
            nullable[column] = False
            columns.setdefault(column, [])
            continue
        else:
            made = getattr(pa.Check, check)(*_ARGUMENTS[check])
        columns.setdefault(column, []).append(made)
    unique = ["ticket"] if "None: unique" in kinds else None
    columns.pop("None", None)
    types = {field.name: field.dataType for field in frame.schema}
    return pa.DataFrameSchema(
        {
            name: pa.Column(types.get(name), checks, nullable=nullable.get(name, True))
            for name, checks in columns.items()
        },
        checks=whole,
        unique=unique,
    ).validate(frame)


def kind_of(name: str) -> str:
    """Return the kind of a verdict's check."""
    return name
