"""The error of the provenance of scripts."""

from __future__ import annotations

from semiring.errors import LipstickError


class ScriptError(LipstickError):
    """A script that cannot be read, run or asked, or times and facts that cannot be used."""
