"""Networks, losses, decoding and signal processing, with torch as the only dependency.

Contains modules, pure tensor functions, and the loading of safetensors folders. Data, training loops, trackers and caches are
not here (``components/training``, ``components/retrieval``), nor are frozen image features (``components/vision``).
"""
