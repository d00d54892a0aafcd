"""A member's side: a server, whom it tells what, and answers from the graph of one store."""
