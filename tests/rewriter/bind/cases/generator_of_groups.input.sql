SELECT a AS k, posexplode(collect_list(b)), count(*), a FROM t GROUP BY 1, t.a ORDER BY k, pos LIMIT 3
