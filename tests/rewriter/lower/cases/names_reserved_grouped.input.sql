SELECT `Case` AS `_n`, count(*) AS `_members` FROM `order` GROUP BY `Case`
