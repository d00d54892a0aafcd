SELECT first(price) FROM cars
