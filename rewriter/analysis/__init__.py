"""What is known of a query from its plan, before a row is read."""
