"""Annotations encoded in arrays of token numbers, without a Python object for each annotation."""
