SELECT id FROM range(0, 10, 1)
