-- blocks
WITH g AS (SELECT dealer, sum(price) AS p FROM cars GROUP BY dealer) SELECT a.dealer FROM g a JOIN g b ON a.p > b.p
