"""Score captions in COCO's formats by every metric, and write the files of COCO's caption server."""
