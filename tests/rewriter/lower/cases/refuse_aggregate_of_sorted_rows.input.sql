SELECT model, first(price) AS p FROM (SELECT * FROM cars ORDER BY dealer) WHERE price > 1 GROUP BY model
