-- blocks
SELECT city FROM dealers WHERE dealer IN (SELECT dealer FROM cars GROUP BY dealer HAVING sum(price) > 10)
