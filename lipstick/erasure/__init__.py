"""Erasure: rows of sources removed with everything that rests on them, verified, with a receipt."""
