"""What ``lipstick demo`` shows: TPC-H queries with provenance, and the paper's car dealer."""
