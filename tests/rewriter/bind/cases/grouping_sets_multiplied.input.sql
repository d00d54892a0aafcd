SELECT model, dealer, sold, count(*) AS n FROM cars GROUP BY model, CUBE (dealer), ROLLUP ((model, sold), 2)
