"""The commands about provenance events."""
