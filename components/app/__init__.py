"""The web application: rate, search, describe, and the start page of a project.

Pages are rendered on the server and work without scripts; a script only adds keys and the microphone. Every function here is
also a command. Not in scope: what the functions compute, which is in the packages below.
"""
