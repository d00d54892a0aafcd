SELECT city, count(*) FROM dealers WHERE (SELECT max(model) FROM cars) IN (SELECT model FROM cars) GROUP BY city
