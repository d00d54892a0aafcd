"""The commands that measure single things, a file an experiment."""
