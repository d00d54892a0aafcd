"""Questions that cross stores, while they are asked, and their answers."""
