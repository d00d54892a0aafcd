SELECT dealer, model FROM cars INTERSECT SELECT dealer, city FROM dealers
