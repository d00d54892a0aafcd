SELECT DISTINCT explode(map(max(a), 'x', min(a), b)) FROM t GROUP BY b
