"""A member's side: a server, its levels of disclosure, and answers from the graph of one store."""
