"""Audio as arrays: files, resampling, prosody changes and measures of a clip. No stage, voice or model."""
