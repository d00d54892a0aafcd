SELECT dealer FROM dealers AS d WHERE EXISTS (SELECT 1 FROM cars AS c WHERE c.dealer = d.dealer GROUP BY ROLLUP (c.model) HAVING count(*) > 1)
