"""Collecting posts by hashtag (mission row P1; dos Santos et al. 2022, section 4.1): ``crawl.source`` of kind posts.

Two phases, as in the paper: the tag's timeline, no further back than a window, gives accounts alone; then every account known,
from today or an earlier day, is visited for its tagged posts of any age. A provider (``provider``) knows how one kind of server
is asked: ``mastodon``, ``instagram``; ``exported`` reads a file of posts instead. ``survey`` does both phases over stored
answers, ``state`` remembers them from one snapshot to the next, ``found`` turns them into what every source gives.
"""
