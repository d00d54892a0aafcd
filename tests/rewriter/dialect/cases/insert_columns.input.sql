INSERT INTO totals (model) SELECT model FROM cars
