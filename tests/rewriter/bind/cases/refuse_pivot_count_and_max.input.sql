SELECT * FROM cars PIVOT (max(model), count(*) FOR dealer IN (1))
