SELECT u.`0_dealer` FROM (SELECT dealer AS `0_dealer` FROM cars GROUP BY dealer UNION ALL SELECT city FROM dealers GROUP BY city) u
