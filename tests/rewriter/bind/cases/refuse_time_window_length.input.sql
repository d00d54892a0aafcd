SELECT window(sold, '1 month') AS a FROM cars
