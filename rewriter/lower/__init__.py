"""Lowering: from the algebra of a query to blocks."""

from __future__ import annotations

from rewriter.lower.lowering import lower_query

__all__ = ["lower_query"]
