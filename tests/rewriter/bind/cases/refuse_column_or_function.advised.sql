SELECT v.`current_date` FROM (SELECT DATE '2020-01-01' AS `current_date`) v
