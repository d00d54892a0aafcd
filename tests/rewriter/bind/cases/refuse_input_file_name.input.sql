SELECT a, input_file_name() FROM t
