"""Questions that cross stores: their evaluation and their answers."""
