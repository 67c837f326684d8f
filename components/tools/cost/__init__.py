"""Estimate the requests to paid providers and their price, without sending any."""
