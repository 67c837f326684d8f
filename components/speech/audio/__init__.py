"""Sound as arrays: files in and out, rate, pitch and gain, and what can be measured of a clip. No stage, no voice, no model."""
