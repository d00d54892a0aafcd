"""The engine on Spark: questions to captures answered as data frames."""
