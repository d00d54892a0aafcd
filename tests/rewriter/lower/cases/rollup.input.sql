-- blocks
SELECT dealer, model, sum(price) AS total, grouping(model) AS g FROM cars GROUP BY ROLLUP (dealer, model) HAVING dealer IS NOT NULL AND sum(price) > 2
