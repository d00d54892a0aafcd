"""Random databases and random queries over them, a module for each part of a query."""
