SELECT upper(model) AS m, count(*) FROM cars GROUP BY 1
