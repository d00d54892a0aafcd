"""A standalone cluster on one machine, to show that nothing needs local mode."""
