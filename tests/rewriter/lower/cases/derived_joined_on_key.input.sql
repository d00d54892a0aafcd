-- blocks
SELECT d.city, g.n FROM dealers d JOIN (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) g ON d.dealer = g.dealer
