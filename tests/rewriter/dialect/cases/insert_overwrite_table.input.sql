INSERT OVERWRITE TABLE `my db`.`totals`
  (SELECT model FROM cars)
