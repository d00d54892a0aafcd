SELECT c FROM padded UNION SELECT c FROM padded WHERE s > d
