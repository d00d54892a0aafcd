"""Captures: the datasets that provenance is answered from, written whole or not at all."""
