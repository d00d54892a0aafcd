"""Statements that change tables, and what becomes of them in tables of each format."""

from __future__ import annotations

from typing import Final

FOLLOWED, WRITTEN, REFUSED, NONE = "followed", "written", "refused", "–"

FORMATS: Final = ("parquet", "delta", "iceberg", "jdbc")

_VERSIONED: Final = (REFUSED, FOLLOWED, FOLLOWED, REFUSED)
_WRITABLE: Final = (WRITTEN, FOLLOWED, FOLLOWED, REFUSED)
_NOT_DELTA: Final = (REFUSED, NONE, FOLLOWED, REFUSED)

_MERGE: Final = "MERGE INTO {t} AS t USING s ON t.id = s.id WHEN MATCHED "

TABLE_STATEMENTS: Final[dict[str, tuple[str, ...]]] = {
    "UPDATE {t} SET amount = amount + 1 WHERE id > 1": _VERSIONED,
    "UPDATE {t} SET amount = 0 WHERE id IN (SELECT id FROM s)": _NOT_DELTA,
    "DELETE FROM {t} WHERE amount = 10": _VERSIONED,
    "DELETE FROM {t} WHERE id IN (SELECT id - 1 FROM s)": _NOT_DELTA,
    _MERGE + "THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *": _VERSIONED,
    _MERGE + "AND s.p = 'y' THEN DELETE WHEN MATCHED THEN UPDATE SET amount = 3": _VERSIONED,
    _MERGE + "THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET amount = 7": _VERSIONED,
    "TRUNCATE TABLE {t}": _VERSIONED,
    "INSERT INTO {t} SELECT * FROM s": _WRITABLE,
    "INSERT INTO {t} (id, p) VALUES (9, 'x')": _WRITABLE,
    "INSERT INTO {t} BY NAME SELECT p, amount, id + 10 AS id FROM s": _WRITABLE,
    "INSERT INTO {t} PARTITION (p = 'x') SELECT id + 20, amount FROM s": _WRITABLE,
    "INSERT INTO {t} REPLACE WHERE p = 'x' SELECT id, amount, 'x' AS p FROM s": _VERSIONED,
    "INSERT OVERWRITE {t} PARTITION (p = 'x') SELECT id + 30, amount FROM s": _WRITABLE,
    "INSERT OVERWRITE {t} SELECT * FROM s": _WRITABLE,
    "ALTER TABLE {t} ADD COLUMN more INT": _VERSIONED,
    "ALTER TABLE {t} DROP COLUMN more": _VERSIONED,
    "MERGE WITH SCHEMA EVOLUTION INTO {t} AS t USING (SELECT *, 1 AS new FROM s) AS s "
    "ON t.id = s.id WHEN MATCHED THEN UPDATE SET *": _VERSIONED,
    "ALTER TABLE {t} RENAME COLUMN amount TO cents": _VERSIONED,
    "CREATE OR REPLACE TABLE {t} USING {format} AS SELECT * FROM s": _VERSIONED,
}
"""By text, over the table ``{t}`` and the tracked relation ``s``, the outcome in each format.

They run one after the other on one table. Followed: the statement is one of the history, and its
version is what it makes of the one before; ALTER TABLE runs by itself, and the next statement is
followed. Written: the answer of its query is annotated and written. Refused: before it runs. –: the
format has no such statement.
"""
