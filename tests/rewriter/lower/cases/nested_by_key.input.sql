-- blocks
SELECT dealer, count(*) AS n FROM (SELECT dealer, model, sum(price) AS p FROM cars GROUP BY dealer, model) g GROUP BY dealer
