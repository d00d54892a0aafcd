"""The demonstration, ``lipstick demo``: TPC-H with provenance, and the paper's car dealer."""
