-- blocks
SELECT dealer, count(*) AS n FROM cars GROUP BY dealer UNION ALL SELECT city, max(rating) FROM dealers GROUP BY city ORDER BY dealer
