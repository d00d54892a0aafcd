-- blocks
SELECT DISTINCT model, dealer FROM cars
