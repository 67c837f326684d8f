"""Files of ratings: a table with a header as CSV.

    readings         ratings as read from a file, and the errors that name file and position
    csv              reads and writes the table

A reader takes a file's bytes and returns a table of ``readings.READ``. It does not know the items.
"""
