SELECT a, date 'today' AS d FROM t
