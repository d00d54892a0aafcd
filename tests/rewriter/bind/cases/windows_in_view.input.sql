SELECT s FROM windowed
