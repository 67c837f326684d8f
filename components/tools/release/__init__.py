"""Write a finished dataset as files for others, in the layout in which datasets of its kind are published.

Captions of images on the web are released as Conceptual Captions is (CC table 3 and its dataset page): captions and image
addresses, no images; captions of local images with the images' file names. Posts are released as #PraCegoVer is (PCV §3, §6):
``dataset.json``, images, splits and a datasheet, with accounts replaced by keyed hashes. All kinds get their records as CSV
(``split_files``), speech (``speech``), samples for other programs (``formats``), metadata (``croissant``) and a card (``notes``).
A release is a command and not a stage, since it must never be overwritten, while a stage empties its folder before each run.
"""
