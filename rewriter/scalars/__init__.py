"""Scalar expressions: calls of functions, windows, and what is known of them alone."""
