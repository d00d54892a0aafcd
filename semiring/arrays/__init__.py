"""Arrays of plain values, as Spark compares and adds them: segments, order, exact numbers, keys."""
