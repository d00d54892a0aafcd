SELECT window(ts, '5 minutes') AS w, COUNT(*) FROM t GROUP BY window(ts, '5 minutes')
