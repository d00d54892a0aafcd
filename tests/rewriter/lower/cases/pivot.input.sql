-- blocks
SELECT * FROM (SELECT model, dealer, price FROM cars) PIVOT (sum(price) AS s, count(*) AS n FOR dealer IN (1 AS one, NULL))
