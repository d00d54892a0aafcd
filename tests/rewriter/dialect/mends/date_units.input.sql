SELECT dateadd(MONTH, 1, d), date_add(d, 1), timestampdiff(SECOND, d, ts), datediff(d, d) FROM t
