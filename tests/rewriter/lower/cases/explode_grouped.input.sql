SELECT u.x, count(*) AS n FROM nested LATERAL VIEW posexplode(arr) u AS p, x GROUP BY u.x
