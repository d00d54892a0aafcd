SELECT price > (SELECT avg(price) FROM cars) AS dear, count(*) FROM cars GROUP BY price > (SELECT avg(price) FROM cars)
