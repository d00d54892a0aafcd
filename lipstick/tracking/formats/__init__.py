"""Formats of tables that keep their versions, each in a file behind one Protocol."""
