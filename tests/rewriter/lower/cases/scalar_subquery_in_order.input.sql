SELECT model FROM cars ORDER BY price - (SELECT avg(price) FROM cars), model
