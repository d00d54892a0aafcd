"""Provenance of streams: ancestors by reverse mapping, replay, properties on the fly."""
