SELECT a, window(sold, '2 days') AS b FROM (SELECT window(sold, '1 day') AS a, sold FROM cars)
