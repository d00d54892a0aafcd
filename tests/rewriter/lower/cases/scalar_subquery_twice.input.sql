-- blocks
SELECT dealer FROM cars WHERE price > (SELECT avg(price) FROM cars) GROUP BY dealer HAVING sum(price) > (SELECT avg(price) FROM cars)
