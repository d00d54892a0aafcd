"""From the captures of an invocation to the nodes and edges of its provenance graph."""
