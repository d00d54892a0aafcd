"""Mutants: modules with one line changed, each put to the tests, which should fail."""
