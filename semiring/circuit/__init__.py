"""Annotations as circuits in arrays, and the canonical objects read from them."""
