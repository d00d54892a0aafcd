UPDATE totals SET n = 1
