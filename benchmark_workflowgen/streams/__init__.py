"""The cost of provenance of streams: the four experiments of the thesis on reverse mapping."""
