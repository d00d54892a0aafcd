SELECT id FROM cars WHERE price > (SELECT middle(price) FROM cars)
