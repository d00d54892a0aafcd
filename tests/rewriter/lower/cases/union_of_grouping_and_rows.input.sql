SELECT dealer FROM cars GROUP BY dealer UNION ALL SELECT city FROM dealers
