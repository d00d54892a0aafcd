WITH n AS (SELECT model, row_number() OVER (PARTITION BY model ORDER BY price) AS n FROM cars)
SELECT p.model, q.n FROM n p JOIN n q ON p.model = q.model AND p.n = q.n - 1
