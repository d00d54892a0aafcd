"""Calls of functions: aggregates, table functions, time windows, registered functions."""
