INSERT INTO totals SELECT model, count(*) FROM cars GROUP BY model
