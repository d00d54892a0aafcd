SELECT window(sold, '1 day'), count(*) FROM cars GROUP BY 1
