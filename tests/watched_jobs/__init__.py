"""Twenty jobs in the manner of public notebooks, run under a watch and held against plain runs."""
