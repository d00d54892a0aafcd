SELECT id FROM cars WHERE window(sold, '1 day').start > now()
