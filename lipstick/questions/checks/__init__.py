"""Checks of data as tools write them: dbt, Great Expectations, Deequ, Soda and Pandera.

`check.py` has a check as a query with bounds, and its result, which explains itself; `dbt.py`,
`great_expectations.py`, `deequ.py`, `soda.py` and `pandera.py` read the documents of a tool each,
behind the Protocol `CheckReader`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from lipstick.questions.checks.check import CheckReader, DataCheck
from lipstick.questions.checks.dbt import DbtTests
from lipstick.questions.checks.deequ import DeequConstraints
from lipstick.questions.checks.great_expectations import ExpectationSuite
from lipstick.questions.checks.pandera import PanderaSchema
from lipstick.questions.checks.soda import SodaChecks
from semiring.support.door import checked

_READERS: Mapping[str, CheckReader] = {
    "dbt": DbtTests(),
    "great_expectations": ExpectationSuite(),
    "deequ": DeequConstraints(),
    "pandera": PanderaSchema(),
}


@checked
def read_checks(
    path: str | os.PathLike[str],
    tool: Literal["dbt", "great_expectations", "deequ", "soda", "pandera"],
    relation: str | None = None,
    variables: Mapping[str, Any] | None = None,
) -> list[DataCheck]:
    """Return the checks of a document, which run over tracked relations.

    Parameters
    ----------
    path
        Of dbt the folder ``target`` after ``dbt test``; of Great Expectations the JSON of a suite;
        of Deequ a file of constraints as calls, or the JSON of results or suggestions; of Soda the
        YAML of its checks; of Pandera what ``schema.to_yaml()`` or ``to_json()`` writes.
    relation
        The relation that checks are about; None: named as the suite or schema is. Tests of dbt name
        their models, and checks of Soda their datasets.
    variables
        Of files of Soda, the values of ``${NAME}``.

    Raises
    ------
    CaptureError
        For documents of another form. A check that cannot be asked is refused when it runs,
        whatever is wrong with it, and the others are read.
    """
    reader = SodaChecks(variables) if tool == "soda" else _READERS[tool]
    return [check for each in reader.read(Path(path), relation) for check in each.checks()]
