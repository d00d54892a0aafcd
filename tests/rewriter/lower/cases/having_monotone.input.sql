-- blocks
SELECT dealer FROM cars GROUP BY dealer HAVING count(*) > 2 AND sum(price) >= 10 AND min(price) < 5
