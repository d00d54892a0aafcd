WITH g AS (SELECT dealer, sum(price) AS p FROM cars GROUP BY dealer) SELECT dealer FROM g UNION ALL SELECT dealer FROM g WHERE p > 3
