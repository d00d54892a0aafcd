"""Lowering: the algebra of a query cut into blocks."""

from __future__ import annotations

from rewriter.lower.lowering import lower

__all__ = ["lower"]
