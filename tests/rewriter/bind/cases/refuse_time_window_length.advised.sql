SELECT window(sold, '4 weeks') AS a FROM cars
