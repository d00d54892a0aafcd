"""Captures in the explorer: rows of an answer, why they are there, and what if."""
