"""Benchmarks: the cost of tracking, measured as ratios against plain Spark in one run."""
