SELECT * FROM nested, LATERAL explode(arr) AS u(x)
