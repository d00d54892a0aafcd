SELECT dealer, count(*) AS n, sum(price), avg(price) FROM cars GROUP BY dealer
