SELECT window(ts, '5 minutes') AS w, count(*) FROM t GROUP BY window(ts, '5 minutes')
