(TABLE t)
