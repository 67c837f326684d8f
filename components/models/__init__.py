"""The networks, their losses, their decoding and their signal processing: torch and nothing else.

In scope: modules, pure tensor functions, and loading a folder of safetensors weights. Not in scope: data, training
loops, trackers, caches (``components/stages/pretrain_retrieval``), frozen image features (``components/providers``).
"""
