-- blocks
SELECT model FROM cars WHERE dealer NOT IN (SELECT dealer FROM dealers WHERE rating > 3)
