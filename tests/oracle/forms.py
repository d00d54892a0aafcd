"""Forms that generated queries have, and how often: ``python -m tests.oracle.forms 2000``."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Final

from tests.oracle.queries.databases import random_database
from tests.oracle.queries.statements import Statements

_FORMS: Final = {
    "CTE": r"^WITH",
    "WITH RECURSIVE": r"^WITH RECURSIVE",
    "VALUES": r"VALUES",
    "inner join": r" (INNER )?JOIN q?\w+ .*? ON ",
    "LEFT JOIN": r"LEFT (OUTER )?JOIN",
    "RIGHT JOIN": r"RIGHT (OUTER )?JOIN",
    "FULL JOIN": r"FULL (OUTER )?JOIN",
    "outer join by no equality": r"(LEFT|RIGHT|FULL) (OUTER )?JOIN \w+ (AS )?\w+ ON [\w.]+ [<>]",
    "USING": r"JOIN [^()]*USING",
    "outer USING": r"(LEFT|RIGHT|FULL) JOIN [^()]*USING",
    "USING of several": r"USING \(\w+, \w+\)",
    "NATURAL": r"NATURAL",
    "SEMI": r"LEFT SEMI JOIN",
    "ANTI": r"ANTI JOIN",
    "CROSS": r"CROSS JOIN",
    "LATERAL": r"LATERAL \(SELECT",
    "LEFT LATERAL": r"LEFT JOIN LATERAL",
    "IN": r"[^T] IN \(SELECT",
    "NOT IN": r"NOT IN \(SELECT",
    "IN of rows": r"\), \S+\) (NOT )?IN|, \S+\) (NOT )?IN \(SELECT",
    "EXISTS": r"(?<!NOT )EXISTS \(SELECT",
    "NOT EXISTS": r"NOT EXISTS \(SELECT",
    "EXISTS as a value": r"\((NOT )?EXISTS \(SELECT.*\) (AS )?c\d",
    "IN as a value": r"(NOT )?IN \(SELECT.*?\)\) (AS )?c\d",
    "scalar subquery": r"[=<>,] \(SELECT",
    "derived table in a subquery": r"\(SELECT [^()]+ FROM \(SELECT \* FROM \S+ (AS )?q",
    "CTE in a subquery": r"\(WITH",
    "ON in a subquery": r"FROM \(SELECT 1 AS one\) AS \w+ JOIN",
    "GROUP BY": r"GROUP BY",
    "HAVING": r"HAVING",
    "ROLLUP": r"ROLLUP",
    "CUBE": r"CUBE",
    "GROUPING SETS": r"GROUPING SETS",
    "FILTER": r"FILTER \(WHERE",
    "aggregate of DISTINCT": r"\(DISTINCT",
    "DISTINCT and FILTER": r"\(DISTINCT [^()]*\) FILTER",
    "STDDEV and its kin": r"STDDEV|VAR_POP|VARIANCE",
    "MEDIAN and PERCENTILE": r"MEDIAN|PERCENTILE\(",
    "CORR and its kin": r"CORR|COVAR|REGR_|SKEWNESS|KURTOSIS",
    "BOOL_AND and its kin": r"BOOL_|EVERY|SOME\(",
    "BIT_AND and its kin": r"BIT_",
    "COUNT_IF": r"COUNT_IF",
    "TRY_SUM and TRY_AVG": r"TRY_(SUM|AVG)",
    "COLLECT_LIST": r"COLLECT_LIST",
    "COLLECT_SET": r"COLLECT_SET",
    "ranking": r"(RANK|ROW_NUMBER|NTILE|CUME_DIST)\(\d?\) OVER",
    "offset": r"(LAG|LEAD)\(",
    "values of a window": r"(FIRST|LAST|NTH)_VALUE",
    "ROWS": r"ROWS BETWEEN",
    "RANGE": r"RANGE BETWEEN",
    "window over groups": r"OVER \([^()]*\).*GROUP BY",
    "QUALIFY": r"QUALIFY",
    "SELECT DISTINCT": r"SELECT DISTINCT",
    "UNION ALL": r"UNION ALL",
    "UNION": r"UNION (?!ALL)",
    "EXCEPT": r"(EXCEPT|MINUS) (?!ALL)",
    "EXCEPT ALL": r"(EXCEPT|MINUS) ALL",
    "INTERSECT": r"INTERSECT (?!ALL)",
    "INTERSECT ALL": r"INTERSECT ALL",
    "ORDER BY": r"ORDER BY",
    "LIMIT": r"LIMIT",
    "OFFSET": r"OFFSET",
    "LATERAL VIEW": r"LATERAL VIEW (?!OUTER)",
    "LATERAL VIEW OUTER": r"LATERAL VIEW OUTER",
    "POSEXPLODE": r"POSEXPLODE",
    "INLINE": r"INLINE",
    "structs": r"STRUCT\(",
    "maps": r"MAP\(",
    "collected structs taken apart": r"COLLECT_LIST\(STRUCT.*INLINE",
    "functions of arrays": r"TRY_ELEMENT_AT|ARRAY_MAX|ARRAY_CONTAINS|FILTER\(p",
    "PIVOT": r"\) PIVOT",
    "UNPIVOT": r"UNPIVOT",
    "pipes": r"\|>",
    "pipe AGGREGATE": r"\|> AGGREGATE",
    "pipe JOIN": r"\|> (LEFT \w+ |LEFT )?JOIN",
}


def census(seeds: Iterable[int]) -> Counter[str]:
    """Return how many queries have each form, 0 for forms that none has."""
    counts = Counter(dict.fromkeys(_FORMS, 0))
    for seed in seeds:
        rng = random.Random(seed)
        sql = Statements(rng, random_database(rng)).statement().sql
        counts.update(name for name, form in _FORMS.items() if re.search(form, sql))
    return counts


def main(count: str = "2000") -> None:
    """Print how many of the first queries have each form."""
    for name, number in census(range(int(count))).most_common():
        print(f"{number:6} {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
