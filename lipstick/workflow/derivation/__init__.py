"""The provenance graph of an invocation, derived from its captures."""
