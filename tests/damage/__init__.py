"""Damage to each file of captures, of the provenance of tables and of stores: told, or harmless."""
