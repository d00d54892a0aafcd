SELECT city, row_number() OVER (ORDER BY city) AS n FROM (SELECT city FROM dealers EXCEPT SELECT model FROM cars) AS t
