"""Benchmarks: what tracking costs, measured as ratios against plain Spark in one run."""
