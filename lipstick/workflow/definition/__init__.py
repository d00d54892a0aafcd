"""Definitions of modules and workflows, in Python or in files, and their checks."""
