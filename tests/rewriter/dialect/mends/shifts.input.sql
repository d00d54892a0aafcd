SELECT a << b + 1, a >> 1, a >>> 1, shiftleft(a, 1) FROM t
