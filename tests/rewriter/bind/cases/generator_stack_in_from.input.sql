SELECT * FROM stack(2, 1, 2)
