SELECT posexplode(arr) AS (p, c) FROM nested
