"""Estimate what paid providers would be asked, and for how much, without asking them."""
