"""The clauses of a query: FROM, WHERE, GROUP BY, SELECT, ORDER BY, set operations and pipes."""
