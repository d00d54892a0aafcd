"""Rewrites of a query that leave its answer as it is, and make its capture smaller."""
