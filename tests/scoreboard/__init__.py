"""The scoreboard: every query of a benchmark put to both oracles, beside plain Spark.

``python -m tests.scoreboard tpcds --data DIR --output DIR``.
"""
