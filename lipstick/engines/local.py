"""Questions to a capture answered in this process, as Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from lipstick.errors import CaptureError, NeedsSparkError
from lipstick.outer import outer
from lipstick.questions.keys import resolve_keys
from lipstick.tracking.unknown_keys import check_deletion
from semiring.errors import LipstickError

if TYPE_CHECKING:
    from lipstick.engines.protocol import AskedCapture
    from lipstick.questions.what_if import WhatIf


class MemoryEngine:
    """Answers without Spark: see :class:`lipstick.engines.protocol.CaptureEngine`."""

    spark = None

    def __init__(self, capture: AskedCapture) -> None:
        self._capture = capture

    def value_lookup(self) -> None:
        """Return None: values that were captured by reference are out of reach without Spark."""
        return

    def answer(self) -> pa.Table:
        """The answer, from the capture."""
        return self._capture.memory.answer()

    def annotated(self) -> NoReturn:
        """Refuse: annotations as a column are a frame."""
        raise NeedsSparkError("lipstick.open(path, spark=spark) has a frame of annotations.")

    def annotations(self, limit: int | None, reason: Exception) -> NoReturn:
        """Raise the reason why memory has none."""
        raise reason

    def lineage(self, where: object) -> dict[str, pa.Table]:
        """The tokens that the rows of the answer were made from, per relation.

        A condition is read as ``lipstick rows`` reads it.
        """
        from lipstick.tables.origins import origins_of

        memory = self._capture.memory
        if where is None:
            return dict(origins_of(self._capture, memory.lineage()))
        needs = "Other conditions need Spark: lipstick.open(path, spark=spark)."
        if not isinstance(where, str):
            raise CaptureError(f'Without Spark, where is a text such as "y = 1995".\n{needs}')
        try:
            rows_that = outer("lipstick.explorer.conditions:rows_that")
            chosen = rows_that(memory.answer(), where, "the answer")
        except LipstickError as error:
            raise CaptureError(f"{error}\n{needs}") from error
        return dict(origins_of(self._capture, memory.lineage(chosen)))

    def shown(self, table: pa.Table) -> pa.Table:
        """An answer with its annotations, as it is."""
        return table

    def what_if(
        self, delete: Mapping[str, Any], cascade: Mapping[str, Any] | None, *, strict: bool
    ) -> WhatIf[pa.Table]:
        """Return the hypothetical answer without some inputs."""
        if cascade:
            raise CaptureError(
                "A cascade reads the tracked sources: lipstick.open(path, spark=spark)."
            )
        self._check_direct(delete)
        capture = self._capture
        keys = resolve_keys(capture.manifest.relations, capture._token_types(), delete)
        check_deletion(capture, delete, keys, strict=strict)
        return capture.memory.what_if(keys)

    def _check_direct(self, delete: Mapping[str, Any]) -> None:
        """Refuse deletions above derived relations, which Spark follows."""
        read = {name.lower() for name in self._capture.manifest.relations}
        above = [
            n for n in delete if n.lower() not in read and n.lower() in self._capture.ancestry.names
        ]
        if above:
            raise CaptureError(
                f"{above[0]!r} is read through derived relations, which needs Spark: "
                "lipstick.open(path, spark=spark)."
            )
