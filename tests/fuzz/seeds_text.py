"""Initial inputs in plain text: pages, srcset, addresses, robots.txt, sitemaps, consent statements, tables."""

from __future__ import annotations

HTML: list[bytes] = [
    b"",
    b"<img src=a.png alt='A cat.'><IMG SRC=\"/b.png\" ALT=b><img alt><img src>",
    b"<!doctype html><html lang=en-GB><base href='//h.sample/x/'>"
    b"<img src=a alt='&lt;b&gt; &amp;copy= &copy=1 &#128; &#x110000;'>",
    b"<picture><source srcset='a.webp 2x, b.webp' type=image/webp>"
    b"<source srcset=c.avif type=image/avif><img src=d alt=e></picture>",
    b"<figure><img src=a alt=b><figcaption>A <b>boat</b>.</figcaption></figure><figure><figure><img src=c></figure></figure>",
    b"<img src=data:image/gif;base64,R0 data-src=real.jpg srcset='s 300w, t 900w' alt=lazy><img data-srcset='x 1.5x,y 3x'>",
    b"<meta name=robots content='noindex, nofollow'><a href=/x rel=nofollow>x</a><a href=/y>y</a><area href=z><iframe src=w>",
    b"<meta charset=latin-1><img src=\xe9.png alt='caf\xe9'>",
    b"\xef\xbb\xbf<img src=\xc3\xa9 alt=\xe6\x97\xa5>",
    b"\xff\xfe<\0i\0m\0g\0 \0s\0r\0c\0=\0a\0>\0",
    b"<?xml version='1.0' encoding='utf-8'?><html xmlns='http://www.w3.org/1999/xhtml'><img src='a' alt='b'/></html>",
    b"<table><tr><td><img src=a alt=b><table><img src=c></table><select><option><img src=d></select>",
    b"<svg><image href=a /><img src=b></svg><math><mi><img src=c></mi></math><svg><title><img src=d></title></svg>",
    b"<script>'<img src=no>'</script><style><img></style><noscript><img src=a alt=b></noscript><template><img src=t></template>",
    b"<textarea><img></textarea><title><img></title><xmp><img></xmp><plaintext><img src=no>",
    b"<!-- <img> --><!--><img src=a alt=1><!--- > <img> --!><img src=b><![CDATA[<img src=c>]]><?x <img src=d>>",
    b"<img src=a alt='never ends <img src=b>",
    b'<p><img src=\'a" alt=b><p title="x><img src=c>"><img src = d alt = e / ><img/src=f/alt=g>',
    b"<frameset><frame src=a></frameset><img src=b><body><image src=c alt=d><form><form><button><button>",
    b"<img src='\x00\x80\x9b.png' alt='\x1b[31m\xc2\x9bred\x07\xe2\x80\xaetxt\xc2\xad'>",
    b"<div>" * 60 + b"<img src=deep alt=deep>",
    b"\x00\x03<img src=a alt='\x83\x41'>",
    b"\x00\x06<img src=a alt='+AGE-'>",
    b"\x00\x07\x1b$B<img src=a alt=b>\x1b(B",
]
SRCSETS: list[bytes] = [
    b"a.jpg 300w, b.jpg 900w",
    b"a 1x,b 2x, c 1.5x",
    b"data:image/gif;base64,R0lG 1x, http://a.sample/x,y.jpg 2x",
    b",,, a,b, c ,\t\nd 10w 20h, e 1w 2x, f -1w, g 1e3w, h 1.5",
    b"a (x, y) 2x, b ((), c\x00 1x",
    "日本 2x, \u3000 1x".encode(),
    b"",
]
URLS: list[bytes] = [
    b"/a/../b?c=d#e",
    b"../x y\nhttp://a.sample/b/c/d",
    b"//h.sample:80/%zz/\xe9",
    b"HTTP://User:Pw@EXAMPLE.sample:8080/\xe6\x97\xa5",  # pragma: allowlist secret
    b"http:\\\\h.sample\\x",
    b"http://[::1]/x",
    b"http://[::ffff:10.0.0.1]:99/",
    b"http://0x7f.1/\nhttp://a.sample",
    b"http://xn--/",
    "http://b\u00fccher.sample./\uff0f".encode(),
    b"a;b?c;d\nhttp://a.sample/x;y",
    b"data:image/gif;base64,R0",
    b"javascript:alert(1)",
    b"\thttp://a.sam\nple/",
    b"http://a.sample:99999/",
    b"?q\nhttp://a.sample//b//c/./../d",
    b"64:ff9b::10.0.0.1",
    b"http://a%2fb.sample/",
    b"fe80::1%eth0",
]
ROBOTS: list[bytes] = [
    b"User-agent: *\nDisallow: /private\nAllow: /private/ok$\nCrawl-delay: 2\nSitemap: http://a.sample/sitemap.xml\n",
    b"User-agent: hearsight\nUser-agent: other\nDisallow:\n\nUser-agent: *\nDisallow: /",
    b"\xef\xbb\xbfuser-AGENT : Hearsight # x\r\rDISALLOW:/*.jpg$\rCrawl-delay: inf",
    b"User-agent: *\nCrawl-delay: nan\nRequest-rate: 1/10s 0800-1200\nVisit-time: 0600-0845",
    b"Disallow: /\nUser-agent:\nAllow\n: x\nSitemap:\nSitemap: \xff",
    b"User-agent: *\nDisallow: /a*b*c*d*e*f*g*$\nDisallow: /%e6%97%a5\nAllow: /\xe6\x97\xa5",
    b"<!doctype html><html>404</html>",
    b"User-agent: *\nCrawl-delay: 1e400\nCrawl-delay: -5\nRequest-rate: 0/0s 9999-9999\nHost: x",
    b"User-agent: *\x00\nDisallow: /\x00",
]
_NS = b'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
SITEMAPS: list[bytes] = [
    b'<?xml version="1.0" encoding="UTF-8"?><urlset '
    + _NS
    + b"><url><loc>http://a.sample/1</loc><lastmod>2026-01-01</lastmod></url>"
    b"<url><loc>http://a.sample/2?a=1&amp;b</loc></url></urlset>",
    b"<sitemapindex " + _NS + b"><sitemap><loc> /s1.xml </loc><lastmod>x</lastmod></sitemap></sitemapindex>",
    b"http://a.sample/1\nhttps://a.sample/2\r\nno address\n",
    b"\xef\xbb\xbf<urlset><url><loc><![CDATA[http://a.sample/&]]></loc></url>",
    b"<!DOCTYPE x [<!ENTITY a 'b'>]><urlset><url><loc>&a;</loc></url></urlset>",
    b"\xff\xfe<\0u\0r\0l\0s\0e\0t\0/\0>\0",
    b'<?xml version="1.0" encoding="nonsense"?><urlset/>',
    b'<?xml version="1.0" encoding="idna"?><urlset/>',
    b'<?xml version="1.0" encoding="utf-7"?><urlset><url><loc>http://a.sample/+AGE-</loc></url></urlset>',
    b"<urlset><url><loc>http://a.sample/</loc><image:image xmlns:image='x'><image:loc>http://b.sample/</image:loc></image:image></url>",
    b"<a>" * 25,
    b"",
]
MANNERS: list[bytes] = [
    b"noindex, noai",
    b"hearsight: noimageai, otherbot: none\tunavailable_after: 25 Jun 2010, all",
    b'1\n[{"location": "/a*b$", "tdm-reservation": 1}, {"location": "*", "tdm-reservation": "0", "tdm-policy": "x"}]',
    b'\'0\'\n[{"location": "/", "tdm-reservation": true}, {"location": 1}, 2, null]',
    b"index\n" + b"[" * 900,
    b'\n[{"location": "/**************************a$", "tdm-reservation": 1e999}]',
]
TABLES: list[bytes] = [
    b"A cat .\thttp://a.sample/a.jpg\nA dog\thttps://a.sample/b.jpg\r\n\tbroken\n",
    b"http://a.sample/a.jpg\tA cat .\nhttp://a.sample/b.jpg\tA dog\n",
    b"A cat\thttp://a.sample/a.jpg\tcat,animal\t/m/1,/m/2\t0.9,1e-05\nA dog\thttp://a.sample/b.jpg\tdog\t\t\n",
    b"a.jpg#0\tA cat .\na.jpg#1\tThe cat .\nb.jpg#x\tno\n",
    b"image_name| comment_number| comment\na.jpg| 0| A cat | with | bars\nb.jpg| \xc2\xb2| no\n",
    b"An apple.\nfr.utf8=Une pomme.\npt_BR.utf8 = Uma.\nca@valencia.utf8=x\ndeu.utf8=y\nno\n",
    b"\xef\xbb\xbfcaption\thttp://a.sample/a.jpg\ncaf\xe9\thttp://a.sample/b.jpg\n",
    b"\x00\t\x00\n\xed\xa0\x80\t\n",
    b"caption\tpath\r\nA cat .\tcats/a.jpg\r\na.jpg\tA cat .\r\n\tb.jpg\r\n",
]
