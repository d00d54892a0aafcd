"""The members of a federation: its file, how each is reached, and what is known of each."""
