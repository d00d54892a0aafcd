"""Rows that cross between stores: exports, imports, and what is known of where they come from."""
