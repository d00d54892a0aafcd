SELECT city FROM rates UNION ALL SELECT dealer FROM cars GROUP BY dealer
