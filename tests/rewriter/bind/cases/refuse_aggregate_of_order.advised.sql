SELECT price, count(*) AS n FROM cars GROUP BY price ORDER BY count(*) DESC LIMIT 5
