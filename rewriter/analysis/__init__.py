"""Properties of a query that follow from its plan, before a row is read."""
