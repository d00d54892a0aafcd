"""Names of columns: what they may mean, and what Spark knows of the columns."""
