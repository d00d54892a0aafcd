SELECT dealer FROM cars GROUP BY dealer HAVING count(*) > 2 AND max(price) > min(price)
