"""Rows that cross between stores: exports, imports, and summaries of their ancestors."""
