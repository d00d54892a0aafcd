SELECT /*+ BROADCAST(s), REPARTITION(3, k), COALESCE(2) */ r.k, max(s.x) AS m FROM r JOIN l AS s ON r.k = s.k GROUP BY r.k
