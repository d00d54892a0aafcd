SELECT measure(price) FROM cars
