"""The operations of a provenance graph on Spark, for graphs larger than one machine's memory."""
