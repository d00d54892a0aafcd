-- blocks
SELECT d.city FROM dealers d JOIN (SELECT dealer, sum(price) AS p FROM cars GROUP BY dealer) g ON d.dealer = g.dealer WHERE g.p > d.rating
