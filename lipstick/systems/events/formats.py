"""The formats of events."""

from __future__ import annotations

MESSAGES, PROV, OPENLINEAGE = "messages", "prov", "openlineage"
FORMATS = (MESSAGES, PROV, OPENLINEAGE)
