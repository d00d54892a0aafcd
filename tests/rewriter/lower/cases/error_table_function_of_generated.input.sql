SELECT g.id, u.word
FROM (SELECT id, x FROM nested LATERAL VIEW explode(arr) e AS x) g, LATERAL words(g.x) AS u(word)
