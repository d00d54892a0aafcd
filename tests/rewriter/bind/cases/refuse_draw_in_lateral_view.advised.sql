SELECT e FROM (SELECT shuffle(arr) AS s FROM nested) LATERAL VIEW explode(s) g AS e
