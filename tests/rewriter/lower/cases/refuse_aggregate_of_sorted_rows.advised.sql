SELECT model, min_by(price, dealer) AS p FROM cars WHERE price > 1 GROUP BY model
