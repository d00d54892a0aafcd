"""Annotations as Boolean functions of the presence of tuples, compiled for counting and search."""
