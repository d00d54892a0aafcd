"""The SQL front end: a query's text becomes a plan of :mod:`rewriter.algebra`.

Names are resolved as Spark 4 does in ANSI mode. Spark has analysed the text before: what it
refuses need not be refused here, and what it accepts must not be read in another way.
"""

from __future__ import annotations

from rewriter.bind.catalog import Environment
from rewriter.bind.context import Recursion
from rewriter.bind.parameters import Arguments, substitute
from rewriter.bind.queries import BoundQuery, bind_query

__all__ = ["Arguments", "BoundQuery", "Environment", "Recursion", "bind_query", "substitute"]
