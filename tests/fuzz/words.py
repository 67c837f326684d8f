"""Dictionaries of libFuzzer by format: tokens separated by white space, with Python escapes."""

from __future__ import annotations

HTML = r"""<img src= alt= srcset= data-src= <picture> <source </picture> <base href= <meta name=robots content= <html lang=
<figure> <figcaption> </figure> <template> <svg> <math> <table> <select> <noscript> <script> </script> <style> </style>
<title> <textarea> <!-- --> <![CDATA[ ]]> <!doctype &amp; &#x80; &copy= data:image/gif;base64, charset=utf-8 http://
noindex"""
WARC = r"""WARC/1.0\r\n WARC/1.1\r\n WARC-Type:\x20response\r\n Content-Length:\x20 WARC-Target-URI:\x20http://a.sample/\r\n
\r\n\r\n Content-Type:\x20application/http;msgtype=response\r\n HTTP/1.1\x20200\x20OK\r\n Content-Type:\x20text/html\r\n
\x1f\x8b\x08 Transfer-Encoding:\x20chunked\r\n Content-Encoding:\x20 gzip deflate br zstd <img\x20src=a.png\x20alt=b>"""
HTTP = r"""HTTP/1.1\x20200\x20OK\r\n HTTP/1.0\x20 Location:\x20 Content-Type:\x20 ETag:\x20 X-Robots-Tag:\x20 TDM-Reservation:\x20
Last-Modified:\x20 Transfer-Encoding:\x20chunked Content-Length:\x20 \r\n \r\n\r\n \n\n \xe9 \xc3\xa9 \xff \x9b"""
RATINGS = r"""item rater verdict time seconds source GOOD BAD 2026-01-01T00:00:00Z , \n \r\n \x22"""
JSON = r"""{" ":" "," [ ] { } null true false 1e999 -1 NaN \\ud800 \\u0000 " : ,"""
WAT = r"""{"Envelope":{"Payload-Metadata":{"HTTP-Response-Metadata": "HTML-Metadata": "Links":[ {"path":"IMG@/src","url":"
","alt":" "Head":{ "Metas":[ "Base":" "Headers":{ Content-Language X-Robots-Tag }] }}}}"""
URL = r"""http:// https:// // ../ ./ %2e %00 @ :80 : [::1] [ ] xn-- \\ ? # ; 127.0.0.1 0x7f localhost .local \x00 \t \n"""
POSTS = r"""
"id":" "url":"http:// "uri":" "created_at":" "account":{ "acct":" "media_attachments":[ "type":"image"
"visibility":"public" "content":" "description":" "media_type":" "permalink":" "children":{ "data":[
"business_discovery":{ "paging":{ "cursors":{ "after":" "timestamp":" "owner":" "posted":" "collected":" "images":[
"caption":" #paracegover 2026-11-21T13:00:00Z 0001-01-01T00:00:00+23:59
"""
SETS = r"""\t http://a.sample/a.jpg a.jpg#0 | .utf8= image_name|\x20comment_number|\x20comment \x1f\x8b \xef\xbb\xbf \x00 \n \r"""
DOCUMENTS = r"""
"images":[ "annotations":[ "id": "image_id": "caption":" "file_name":" "coco_url":" "filename":" "sentences":[ "raw":"
"split":" "filepath":" "user":" "date":" "raw_caption":"
"""
IMAGES = r"""\xff\xd8\xff \xff\xc0 \xff\xc2 \xff\xc4 \xff\xda \xff\xd9 \xff\xdb \x89PNG\r\n\x1a\n IHDR IDAT PLTE tRNS eXIf acTL
IEND GIF87a GIF89a RIFF WEBP VP8X VP8L VP8\x20 ALPH ANIM ANMF EXIF"""
SOUND = r"""RIFF RIFX RF64 WAVE fmt\x20 data fLaC OggS \x01vorbis OpusHead ID3 \xfe\xff \xff\xff\xff\xff"""
ROBOTS = r"""User-agent: Allow: Disallow: Crawl-delay: Sitemap: hearsight * $ / # inf nan 1e999 -1 \r \n \xef\xbb\xbf
Request-rate: Visit-time: 1/10s 0800-1200 Content-Signal: Content-Usage: ai-train=no train-ai=n License:"""
RSL = r"""<rsl xmlns="https://rslstandard.org/rsl"> </rsl> <content url="/"> </content> <license> </license> <permits
</permits> <prohibits type="usage"> </prohibits> ai-train all <payment type="free"/> <!DOCTYPE <!ENTITY server= <![CDATA[ &#x"""
IMAGE_USE = r"""\xff\xd8\xff\xe1 \xff\xeb JP\x00\x01 http://ns.adobe.com/xap/1.0/\x00 plus:DataMining="DMI-PROHIBITED" jumb
jumd cbor json c2pa c2pa.training-mining cawg.training-mining entries use notAllowed \x89PNG\r\n\x1a\n caBX iTXt RIFF WEBP C2PA
XMP\x20"""
SITEMAP = r"""<?xml\x20version="1.0"\x20encoding="utf-16"?> <urlset> </urlset> <sitemapindex> <url> </url> <loc> </loc> <lastmod>
</lastmod> <sitemap> <![CDATA[ ]]> <!DOCTYPE &#x <!ENTITY \x1f\x8b xmlns= http://a.sample/"""
ENTRY = r"""
"url": "status": "offset": "length": "segment":"0001.warc.gz" "held": "failure": X-Hearsight-Entry:\x20{ [[[[[[[[
"""
WISHES = r"""hearsight: * : , noai noindex noimageai none index all tdm-reservation unavailable_after: "location":"
"tdm-reservation": $ /* ** /"""
ZIP = r"""PK\x03\x04 PK\x01\x02 PK\x05\x06 archive/data.warc.gz archive/data.warc datapackage.json \x00\x00"""
