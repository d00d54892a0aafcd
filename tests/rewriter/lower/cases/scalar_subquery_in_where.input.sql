-- blocks
SELECT model FROM cars WHERE price > (SELECT avg(price) FROM cars)
