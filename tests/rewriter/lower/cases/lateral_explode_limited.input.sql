SELECT d.city, u.x FROM dealers d, LATERAL explode(array(d.rating, 2)) AS u(x) ORDER BY 1 LIMIT 2
