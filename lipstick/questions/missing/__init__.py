"""Rows that are not in an answer: where they were lost, and what would bring them."""
