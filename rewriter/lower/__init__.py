"""Lowering: the algebra of a query cut into blocks."""

from __future__ import annotations

from rewriter.lower.lowering import lower_query

__all__ = ["lower_query"]
