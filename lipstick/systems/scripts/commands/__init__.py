"""The commands about Python scripts."""
