"""Commands outside the graph of stages: calibrate, cache repair, cost, demo, doctor, release, score, snapshots, takedown, try."""
