SELECT z.a, z.x FROM (t CROSS JOIN l) AS z
