SELECT * FROM nested LEFT JOIN LATERAL inline(array(st)) t(k, v) ON v > 1
