SELECT a | b & c0, a ^ b | c0 & a FROM t
