"""Modules and workflows as they are defined, in Python or in files, and checked."""
