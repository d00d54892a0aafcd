"""The members of a federation: its file, their transports, and their heads."""
