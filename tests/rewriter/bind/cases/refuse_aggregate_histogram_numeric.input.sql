SELECT model, count(*) FROM cars GROUP BY model HAVING histogram_numeric(price, 3) IS NULL
