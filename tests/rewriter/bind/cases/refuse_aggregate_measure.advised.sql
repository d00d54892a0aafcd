SELECT sum(price) FROM cars
