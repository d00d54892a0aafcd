"""Subqueries: IN, EXISTS, scalar ones, and those tied to the outer query (unnesting)."""
