"""Challenge pages are recognised by status, headers and structure in any language; pages about or with captchas are content."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.web import challenges
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
EXPLAINED = "<p>" + "Pourquoi cette page ? Elle protège ce site contre des robots trop nombreux. " * 20 + "</p>"
CHALLENGES |= {
    "anubis with its explanation": page(
        '<script id="anubis_challenge" type="application/json">{}</script><img src=a.webp>' + EXPLAINED
    ),
    "anubis refusing": page('<script id="anubis_version" type="application/json">"v1.18.0"</script><h1>Oh non</h1>'),
    "cloudflare with much text": page("<script>window._cf_chl_opt={cvId:'3'};</script>" + EXPLAINED),
    "cloudflare block": page(
        '<div id="cf-error-details"><h1 data-translate="block_headline">Désolé</h1></div><script src=a.js></script>'
    ),
    "aws waf with much text": page('<script>window.gokuProps={"key":"a"};</script>' + EXPLAINED),
    "aws waf without its key": page(
        '<script>AwsWafIntegration.checkForceRefresh().then(f)</script><div id="challenge-container"></div>'
    ),
    "aws waf captcha": page('<div id="captcha-container"></div><script>CaptchaScript.renderCaptcha(c, done)</script>'),
    "human": page(
        "<script>window._pxUuid='1';window._pxAppId='P';var pxCaptchaSrc='/P/captcha/captcha.js?a=c';</script>",
        title="Accès refusé",
    ),
    "human with much text": page('<div id="px-captcha"></div>' + EXPLAINED),
    "akamai proof of work": page(
        '<iframe src=""></iframe><script>xhr.open("POST","/_sec/verify?provider=interstitial");</script>',
        "<meta http-equiv='refresh' content=\"5; URL='/news?bm-verify=AAQA'\">",
    ),
    "akamai denial": (
        b"<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\nYou don't have permission to access"
        b' "http&#58;&#47;&#47;a&#46;sample&#47;b" on this server.<P>\nReference&#32;&#35;18&#46;a6b93554&#46;165&#46;877\n'
        b"</BODY></HTML>"
    ),
    "imperva without an iframe": page(
        "<p>" + "Quelque chose dans votre navigateur nous fait penser à un robot. " * 6 + "</p>",
        '<meta name="robots" content="noindex"><script>window.onProtectionInitialized = function(p) {}</script>',
    ),
    "ddos-guard": page(
        '<body data-ddg-origin="true"><h1 id="ddg-l10n-title">…</h1>',
        '<script src="https://check.ddos-guard.net/check.js"></script>',
    ),
    "sucuri block": page(
        "<table><tr><td>BNP005</td></tr></table>", '<link href="https://cdn.sucuri.net/sucuri-firewall-block.css">'
    ),
    "azure": page("<p>…</p>", '<script src="/.azwaf/jsc/challenge.1.js"></script>'),
    "fastly": page(
        '<div id="loading-error"><img src="/_fs-ch-1T/assets/errorIcon.svg"></div>',
        '<script src="/_fs-ch-1T/script.js?reload=true"></script>',
    ),
    "f5": page("<noscript>…</noscript>", '<script>window["bobcmn"]="11";</script><script src="/TSPD/08?type=9"></script>'),
    "f5 rejection": b"<html><head><title>Rejected</title></head><body>Denied.<br>Your support ID is: 1234<br></body></html>",
    "bunny": page("<p>…</p>", '<script data-pow="1" src="/.bunny-shield/assets/shield-challenge.js"></script>'),
    "go-away": page(
        "<h1>…</h1>",
        '<meta http-equiv="refresh" content="2; url=/.well-known/.a.sample/cmd/go-away/challenge/meta-refresh/verify-challenge">',
    ),
    "akamai proof of work for a titled page": page(
        "<p>" + "Un instant. " * 30 + "</p><script>x.open('POST','/_sec/verify')</script>",
        "<meta http-equiv=refresh content=\"5; URL='/title?bm-verify=AAQA'\">",
    ),
    "go-away by cookie": page(
        "<h1>…</h1>", '<meta http-equiv="refresh" content="2; url=/?__goaway_challenge=cookie&__goaway_id=1">'
    ),
    "aliyun": page('<script>var arg1="0A";function f(x){document.cookie="acw_sc__v2="+x}</script>', title=""),
    "smartcaptcha": page('<form method="POST" action="/checkcaptcha?key=a&retpath=b"><img src=c.png><input name="rep"></form>'),
    "qrator": page('<script src="/__qrator/qauth_utm_v2d_v9118.js"></script>'),
    "reblaze": page('<script>window.rbzns={bereshit:"1",seed:"a"};winsocks();</script>'),
    "amazon": page('<form action="/errors/validateCaptcha"><img src=c.jpg><input id="captchacharacters" type="text"></form>'),
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
    "injected imperva": page("<img src=a.jpg alt=A><script src='/_Incapsula_Resource?SWJIYLWA=719d'></script>"),
    "injected imperva, text alone": page(
        "<p>" + "A boat on a lake. " * 15 + "</p><script src='/_Incapsula_Resource?SWJIYLWA=7'></script>"
    ),
    "injected imperva, image for those without scripts": page(
        "<noscript><img src=a.jpg alt='A boat'></noscript><script src='/_Incapsula_Resource?SWJIYLWA=7'></script>"
    ),
    "injected imperva, drawn by scripts": page(
        "<div id=root></div><script src='/_Incapsula_Resource?SWJIYLWA=7'></script>",
        "<meta property='og:image' content='/a.jpg'>",
    ),
    "injected imperva after an empty script": page(
        "<img src='a.jpg' alt='A'/><script>f()</script>", "<script src='/_Incapsula_Resource?SWJIYLWA=7' />"
    ),
    "injected imperva beside an icon": page(
        "<svg class='g-recaptcha'/><img src=a.jpg alt=A><script src='/_Incapsula_Resource?SWJIYLWA=7'></script>"
    ),
    "passed kasada": page(
        "<img src=a.jpg alt=A><script src='/149e/p.js'></script><script>window.KPSDK={};KPSDK.configure([])</script>"
    ),
    "passed akamai": page("<img src=a.jpg alt=A><script src='/_sec/cp_challenge/x.js'></script><i class=challenge></i>"),
    "passed cloudflare in its address": page("<img src=a.jpg alt=A>", "<link rel=canonical href='/p?__cf_chl_tk=a'>"),
    "preconnected datadome": page("<img src=a.jpg alt=A>", "<link rel=preconnect href='https://ct.captcha-delivery.com/'>"),
    "preconnected datadome without an image": page(
        "<p>A boat</p>", "<link rel=preconnect href='https://ct.captcha-delivery.com/'>"
    ),
    "described challenge": page(
        "<h1>gokuProps</h1>", "<meta name=description content='What is window.gokuProps of a challenge?'>"
    ),
    "linked challenge": page("<p>Read <a href='https://a.sample/?_cf_chl_opt'>this</a> on challenges.</p>"),
    "listed challenge": page("<script type='application/ld+json'>{'headline': 'A challenge: window._cf_chl_opt'}</script>"),
    "vote by an invisible captcha": page(
        "<img src=s.jpg alt=S><form><button class='g-recaptcha' data-callback=f>Vote</button></form>"
    ),
    "vote by an invisible captcha without an image": page(
        "<p>A boat</p><button class='g-recaptcha' data-callback=f>Vote</button>"
    ),
    "invisible captcha": page("<div id=root></div><div class='g-recaptcha' data-size='invisible'></div>"),
    "photo with turnstile": page("<img src=a.jpg alt='A boat'><div class='cf-turnstile'></div><button>Like</button>"),
    "album with hcaptcha": page("<img src=a.jpg alt=A>" * 40 + "<div class='h-captcha'></div>"),
    "captcha in a template": page("<p>A boat</p><template><form><div class='h-captcha'></div></form></template>"),
    "captcha in a comment": page("<p>A boat</p><!-- <div class='h-captcha'></div> -->"),
    "slow refresh to captcha art": page("<img src=a.jpg alt=A>", "<meta http-equiv=refresh content='30;url=/captcha-art'>"),
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


MARKS = [
    tuple(line.split("\t")) for line in (Path(challenges.__file__).parent / "data/challenges.tsv").read_text().splitlines()[1:]
]


@pytest.mark.parametrize(("maker", "condition", "mark"), MARKS, ids=[mark for _, _, mark in MARKS])
def test_each_mark_counts_on_its_condition(maker, condition, mark):
    words = mark.replace(" + ", " ")
    bare = page(words) if condition == "refusal" else page(f"<script>{words}</script>")
    image, text = b"<img src=a.jpg>", b"<p>" + b"Many words. " * 25 + b"</p>"
    assert find_challenge(200, {}, bare).startswith(f"{maker}: ")
    assert bool(find_challenge(200, {}, bare + image)) == (condition == "own")
    assert bool(find_challenge(200, {}, bare + text * 3)) == (condition == "own")
    assert not find_challenge(200, {}, bare + text * 14)
    assert bool(find_challenge(403, {}, bare + image + text)) == (condition != "refusal")
    assert bool(find_challenge(200, {}, bare + b"<link rel=stylesheet href=a.css>")) == (condition != "refusal")
    assert bool(find_challenge(200, {}, bare + b"<script src=a.js></script>")) == (condition != "refusal")


def test_markup_is_read_in_linear_time():
    def seconds(piece: bytes, size: int) -> float:
        body = b"captcha" + (piece * size)[:size]
        start = time.process_time()
        for _ in range(3):
            find_challenge(200, {}, body)
        return time.process_time() - start

    for piece in (b"<meta refresh", b"<script/", b"<noscript><img alt ", b"<div class=a a a a ", b"<meta og: ", b"<script ld"):
        short, long = (min(seconds(piece, size) for _ in range(5)) for size in (LONGEST // 8, LONGEST - 8))
        assert long < 24 * short, piece  # 8 times the bytes; the square of them is 64 times


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
