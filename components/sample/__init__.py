"""The sample web: real pages and images from Debian packages, served on loopback by a real HTTP server."""
