-- blocks
SELECT id, x FROM nested LATERAL VIEW OUTER explode(arr) u AS x WHERE x > 1
