SELECT a, current_date() AS d FROM t
