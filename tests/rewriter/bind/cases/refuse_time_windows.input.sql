SELECT window(sold, '1 day') AS a, window(sold, '2 days') AS b FROM cars
