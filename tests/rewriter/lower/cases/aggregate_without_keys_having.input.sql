SELECT max(price) AS m FROM cars HAVING count(*) > 3
