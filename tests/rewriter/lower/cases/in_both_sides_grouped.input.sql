SELECT dealer FROM cars GROUP BY dealer HAVING dealer IN (SELECT buyer FROM bids GROUP BY buyer) AND count(*) > 1
