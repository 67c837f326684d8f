"""Collection of posts by hashtag (PCV §4.1): ``crawl.source`` of kind posts.

Two phases, as in the paper. First the tag's timeline, within a time window, yields accounts only. Then every known account, of
this or an earlier snapshot, is visited for its tagged posts of any age. A provider (``provider``) implements the API of one kind
of server: ``mastodon``, ``instagram``; ``exported`` reads a file of posts instead. ``survey`` runs both phases over stored
answers, ``post.State`` carries their result from one snapshot to the next, ``conversion`` converts it to source pages.
"""
