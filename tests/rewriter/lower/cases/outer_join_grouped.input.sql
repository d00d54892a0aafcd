-- blocks
SELECT d.city, c.n FROM dealers d LEFT JOIN (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) c ON c.dealer = d.dealer
