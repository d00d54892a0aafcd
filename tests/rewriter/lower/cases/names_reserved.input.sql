SELECT `order`.`select`, `Case` AS `_prov`, `_prov` AS `_present` FROM `order` WHERE `select` > 1
