"""The sample web: real pages and pictures from Debian packages, served on loopback by a real HTTP server."""
