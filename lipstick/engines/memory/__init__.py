"""The in-memory engine: questions answered from a capture directory without Spark.

`memory` has the questions; a session that asks Spark alone loads none of it.
"""
