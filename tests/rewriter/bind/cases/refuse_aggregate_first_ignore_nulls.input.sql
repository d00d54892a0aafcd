SELECT first(price) IGNORE NULLS FROM cars
