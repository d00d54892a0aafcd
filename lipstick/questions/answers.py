"""The columns of an answer under the names that the query gives them."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def with_names(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return a frame with other names for its columns, among which one may stand twice.

    Spark's rule ``RemoveRedundantAliases`` makes a plan invalid where two columns of one name come,
    in a branch of a union, to be one column of that name. So of a repeated name only the first is
    an alias of a column; the others are the only item of an array.
    """
    if len(set(names)) == len(names):
        return frame.toDF(*names)
    columns = []
    for index, (column_name, name) in enumerate(zip(frame.columns, names, strict=True)):
        column = F.col(f"`{column_name}`")
        if name in names[:index]:
            metadata = frame.schema.fields[index].metadata
            column = F.array_repeat(column, 1)[0].alias(name, metadata=metadata)
        else:
            column = column.alias(name)
        columns.append(column)
    return frame.select(*columns)
