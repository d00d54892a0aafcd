"""Copies of members' stores, and the choice of copies that a host makes in advance."""
