-- blocks
SELECT t.m, count(*) AS n, d.city FROM (SELECT model AS m FROM cars INTERSECT ALL SELECT city FROM dealers) t JOIN dealers d ON d.city = t.m GROUP BY t.m, d.city
