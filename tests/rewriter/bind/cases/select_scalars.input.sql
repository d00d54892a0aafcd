SELECT CASE WHEN price > 1 THEN 'x' ELSE NULL END AS c, CAST(price AS DECIMAL(10, 2)) AS d,
  model LIKE 'C%' AND price BETWEEN 1 AND 2 AS e, price IN (1, 2) AS f,
  sold + INTERVAL 1 DAY AS g, DATE '2020-01-31' AS h, upper(model) || 'it''s' AS i, -price AS j
FROM cars
