"""Models in the layout of a hub (transformers): references, files and their digest, loading. What they compute is elsewhere.

Loading never runs code of a model and reads safetensors only. Importing this package imports neither transformers nor torch.
"""
