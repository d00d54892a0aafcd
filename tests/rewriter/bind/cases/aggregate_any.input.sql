SELECT any(price > 1) FROM cars
