"""The client of Google Cloud services: requests, limits, usage and cost. Loads Google's libraries only when a request is made."""
