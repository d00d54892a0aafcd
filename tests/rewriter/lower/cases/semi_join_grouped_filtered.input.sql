-- blocks
SELECT city FROM dealers d LEFT SEMI JOIN (SELECT dealer, sum(price) AS p FROM cars GROUP BY dealer) g ON g.dealer = d.dealer AND g.p > 10
