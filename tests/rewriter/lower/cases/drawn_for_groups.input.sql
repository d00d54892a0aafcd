SELECT model, sum(price) AS s, rand() AS r FROM cars GROUP BY model
