"""Challenge pages are recognised by status, headers and structure in any language; pages about or with captchas are content."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.web.challenges import LONGEST, find_challenge

PAGE = "<!doctype html><html lang=ru><head><title>{title}</title>{head}</head><body>{body}</body></html>"


def page(body: str = "", head: str = "", title: str = "Минуту…") -> bytes:
    return PAGE.format(body=body, head=head, title=title).encode()


CHALLENGES = {
    "cloudflare": page("<noscript>JS</noscript><script>(function(){window._cf_chl_opt={cvId:'3'};}())</script>"),
    "cloudflare orchestrate": page(head='<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=1"></script>'),
    "datadome": page('<script>var dd={"rt":"c"}</script><script src="https://ct.captcha-delivery.com/c.js"></script>'),
    "perimeterx": page('<div id="px-captcha"></div><script src="/init.js"></script>'),
    "imperva": page(head='<script src="/_Incapsula_Resource?SWJIYLWA=1,2"></script>', title=""),
    "imperva frame": page('<iframe src="/_Incapsula_Resource?CWUDNSAI=1" width="100%">x</iframe>'),
    "aws waf": page('<div id="challenge-container"></div><script>window.gokuProps={"key":"a"};</script>'),
    "sucuri": page("<script>var s={};document.cookie='sucuri_cloudproxy_uuid_1=2';/*sucuri_cloudproxy_js*/</script>"),
    "siteground": b'<html><head><meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/?r=%2F&y=ipc:1"></head></html>',
    "anubis": page('<script id="anubis_challenge" type="application/json">{"difficulty":4}</script><p>Готово?</p>'),
    "vercel": page(head='<script src="/.well-known/vercel/security/static/challenge.v2.min.js"></script>'),
    "kasada": page("<script>window.KPSDK={};KPSDK.now=1</script><script src='/149e/ips.js'></script>"),
    "akamai": page('<div id="sec-if-cpt-container"></div><script src="/akam-sw.js"></script>'),
    "turnstile alone": page(
        '<form method=post><div class="cf-turnstile" data-sitekey="1"></div><input type=hidden name=a></form>'
    ),
    "hcaptcha alone": page('<p>人間ですか</p><form><div class="h-captcha"></div><input type="submit" value="送信"></form>'),
    "recaptcha alone": page("<form><div class='box g-recaptcha' data-sitekey='1'></div><button>OK</button></form>"),
    "refresh to a captcha": page(head='<meta http-equiv=refresh content="0; url=/captcha?back=%2F">'),
}
WORDS = "<p>" + "A captcha asks whether a visitor is a person; a challenge page does so before the page. " * 20 + "</p>"
LINKS = "".join(f'<a href="/p{n}">{n}</a>' for n in range(12))
CONTENT = {
    "about captchas": page(WORDS + "<pre>window._cf_chl_opt = {}; /_Incapsula_Resource?</pre>"),
    "a short question about one": page("<h1>What is _cf_chl_opt?</h1><p>And g-recaptcha, captcha-delivery.com/ ?</p>"),
    "escaped markup": page("<p>Use &lt;div class=&quot;h-captcha&quot;&gt; for a captcha.</p>"),
    "login": page('<form><input type=email><input type=password><div class="g-recaptcha"></div><button>Log in</button></form>'),
    "comment": page("<p>Nice.</p><form><textarea></textarea><div class='cf-turnstile'></div></form>"),
    "search with turnstile": page("<form><input name=q><div class='cf-turnstile'></div></form>"),
    "passed cloudflare": page(WORDS + "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>"),
    "short passed cloudflare": page(
        "<img src=a.jpg alt=A><script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>"
    ),
    "passed imperva": page(WORDS + LINKS + "<script src='/_Incapsula_Resource?SWJIYLWA=1'></script>"),
    "passed datadome": page("<img src=a.jpg alt=A><script src='https://js.datadome.co/tags.js'></script>"),
    "gallery": page(LINKS + "<div class='cf-turnstile'></div>"),
    "photo challenge": page("<h1>Photo challenge</h1><img src=a.jpg alt='A boat'><p>The challenge of May</p>"),
    "refresh to a contest": page(head='<meta http-equiv=refresh content="0; url=/challenge/2024/">'),
    "empty": b"",
    "no markup": b"captcha",
    "long": page("<div id='px-captcha'></div>" + "<br>" * LONGEST),
}


@pytest.mark.parametrize("name", CHALLENGES)
@pytest.mark.parametrize("status", [200, 403, 429, 503])
def test_a_challenge_is_recognised_by_its_structure_whatever_its_status(name, status):
    assert find_challenge(status, {"content-type": "text/html"}, CHALLENGES[name])


@pytest.mark.parametrize("name", CONTENT)
def test_a_page_about_captchas_or_with_one_is_content(name):
    assert find_challenge(200, {"content-type": "text/html"}, CONTENT[name]) == ""


@pytest.mark.parametrize(
    ("status", "sent", "is_challenge"),
    [
        (403, {"cf-mitigated": "challenge"}, True),
        (200, {"cf-mitigated": "challenge"}, True),
        (202, {"x-amzn-waf-action": "challenge"}, True),
        (405, {"x-amzn-waf-action": "captcha"}, True),
        (429, {"x-vercel-mitigated": "challenge"}, True),
        (202, {"sg-captcha": "challenge"}, True),
        (403, {"x-datadome": "protected"}, True),
        (200, {"x-datadome": "protected"}, False),
        (429, {"x-kpsdk-ct": "a"}, True),
        (403, {"server": "cloudflare"}, False),
        (404, {"x-datadome": "protected"}, False),
        (403, {"cf-mitigated": "block"}, False),
        (503, {"retry-after": "10"}, False),
    ],
)
def test_headers_of_challenges_are_recognised_without_a_body(status, sent, is_challenge):
    assert bool(find_challenge(status, sent, b"")) == is_challenge


@given(st.binary(max_size=400), st.sampled_from(sorted(CHALLENGES)), st.integers(0, 300))
def test_no_bytes_make_it_raise(noise, name, at):
    whole = CHALLENGES[name]
    find_challenge(200, {}, whole[:at] + noise + whole[at:])
    find_challenge(200, {}, noise)


@pytest.mark.parametrize(
    "piece",
    [
        b"<",
        b"<script captcha ",
        b"<!--",
        b"<input type=",
        b"<style>captcha",
        b"<meta http-equiv=refresh url=",
        b" refresh",
        b" class='a ",
    ],
)
def test_hostile_markup_takes_no_long(piece):
    start = time.process_time()
    find_challenge(200, {}, (b"captcha<meta " + piece * LONGEST)[:LONGEST])
    assert time.process_time() - start < 20.0
