-- blocks
SELECT dealer FROM cars GROUP BY dealer HAVING avg(price) > 2
