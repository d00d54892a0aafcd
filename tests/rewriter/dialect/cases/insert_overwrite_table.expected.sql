-- overwrite: my db / totals
INSERT OVERWRITE TABLE `my db`.`totals`
SELECT * FROM `answer`;
                                       
  (SELECT model FROM cars)
