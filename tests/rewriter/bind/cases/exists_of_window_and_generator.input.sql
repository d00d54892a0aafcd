SELECT a FROM t WHERE EXISTS (SELECT row_number() OVER (ORDER BY st), explode(arr) FROM nested WHERE nested.a = t.a)
