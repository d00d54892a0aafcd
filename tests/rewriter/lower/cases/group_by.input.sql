-- blocks
SELECT dealer, sum(price) AS total, avg(price), count(*) FROM cars GROUP BY dealer
