SELECT x FROM l ASOF JOIN r ON l.x >= r.y
