"""Commands outside the graph of stages: calibrate, cost, demo, doctor, release, repair, score, takedown, try."""
