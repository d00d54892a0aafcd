"""The commands about streams."""
