"""takedown: what somebody asked us to give up leaves every file we have, and a scan proves it.

The list (``listing``) is read by the crawl, which drops what is listed and clears its fetch store (``components/crawl``:
``takedown``, ``web/forget``). Here: what older runs left (``purge``: ``caches``, ``versions``, ``tracked``), finding a listed
thing in any file of ours (``matcher``, ``looking``), what its records were called (``evidence``), and the proof (``scan``).
Not in scope: copies elsewhere (a colleague's clone, git's history, a published set), which are named and not reached.
"""
