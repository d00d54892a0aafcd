SELECT k, l.k, r.k, r.*, l.* FROM l JOIN r USING (k, j)
