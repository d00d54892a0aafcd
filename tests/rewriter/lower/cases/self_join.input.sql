SELECT a.model FROM cars a JOIN cars b ON a.dealer = b.dealer AND a.price < b.price
