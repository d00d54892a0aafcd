FROM cars INSERT INTO totals SELECT model
