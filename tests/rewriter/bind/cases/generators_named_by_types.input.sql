SELECT f, key, value FROM (SELECT inline(arr) FROM nested) LATERAL VIEW explode(m) e
