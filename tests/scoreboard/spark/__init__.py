"""Files of statements in the form of Spark's own SQL tests, put to the oracles.

``python -m tests.scoreboard spark FILE... --output DIR``.
"""
