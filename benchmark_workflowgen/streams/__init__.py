"""What provenance of streams costs: the four experiments of the thesis on reverse mapping."""
