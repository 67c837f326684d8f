"""Check one voice of the catalogue and say what is left to do (``hearsight voices NAME``).

Every sentence is spoken by the real engine in its host process and by the code of the stage synthesize. Not in scope: paid
voices, and how pleasant a voice sounds.
"""
