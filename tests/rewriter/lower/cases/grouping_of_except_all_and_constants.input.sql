SELECT city, count(*) AS n FROM ((SELECT city FROM dealers EXCEPT ALL SELECT model FROM cars) AS t JOIN rates USING (city)) GROUP BY city
