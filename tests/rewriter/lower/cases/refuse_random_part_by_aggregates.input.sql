SELECT * FROM (SELECT model, sum(price) AS s FROM cars GROUP BY model SORT BY s, model) WHERE rand(3) < 0.5
