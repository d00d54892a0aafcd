-- blocks
SELECT count(*) AS n, max(price) AS m FROM cars WHERE price > 5
