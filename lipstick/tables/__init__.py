"""Derived relations: tables written by annotated queries, whose captures are kept beside them."""
