"""Initial inputs in JSON: image–caption sets, exported posts, answers of social servers."""

from __future__ import annotations

import gzip
import json


def documents() -> list[bytes]:
    """Return JSON of image–caption sets."""
    coco = {"images": [{"id": 1, "file_name": "a.jpg", "coco_url": "http://a.sample/a.jpg"}], "annotations": []}
    coco["annotations"] = [{"image_id": number, "caption": "A cat."} for number in (1, 2)]
    karpathy = {"images": [{"filename": "a.jpg", "filepath": "val", "split": "test", "sentences": [{"raw": "A cat."}, {}]}, 1]}
    posts = [{"user": "u", "filename": "a.jpg", "raw_caption": "#x", "caption": "Um gato.", "date": "2020-01-01"}, {}]
    whole = [json.dumps(one).encode() for one in (coco, karpathy, posts, {"1": posts[0]}, {}, [], 1)]
    return [
        *whole,
        b"\xef\xbb\xbf" + whole[0],
        whole[0][:-5],
        b"\xff",
        b"[" * 3000,
        b'{"images":' + b"1" * 4400,
        b'{"images":[{"id":"\\ud800"}],"annotations":[]}',
    ]


def ratings() -> list[bytes]:
    """Return files of ratings: CSV, Label Studio."""
    item, time = "0123456789abcdef", "2026-01-01T00:00:00Z"
    result = {"from_name": "verdict", "type": "choices", "value": {"choices": ["GOOD"]}}
    annotation = {"completed_by": 1, "result": [result], "was_cancelled": False, "created_at": time, "lead_time": 2.5}
    task = {"data": {"item": item}, "annotations": [annotation, {"completed_by": {"email": "a@b.c"}, "was_cancelled": True}]}
    flat = {"item": item, "verdict": "BAD", "annotator": 1, "created_at": time, "lead_time": 1}
    documents = [json.dumps(content).encode() for content in ([task], [flat])]
    table = f"item,rater,verdict,time,seconds,source\n{item},a,GOOD,{time},1.5,csv\n{item},b,0,,,\n".encode()
    return [
        *documents,
        table,
        b"\xef\xbb\xbf" + table,
        table[:-9],
    ]


def exported() -> list[bytes]:
    """Return files of exported posts."""
    post = {
        "id": "1",
        "url": "http://a.sample/1",
        "owner": "@a",
        "posted": "2026-01-01T00:00:00Z",
        "collected": "2026-01-02T00:00:00+01:00",
    }
    post |= {
        "caption": "Um gato. #ParaCegoVer",
        "images": [{"url": "http://a.sample/1.jpg", "alt": "x", "type": "image"}],
        "language": "pt",
    }
    lines = [
        post,
        {**post, "visibility": "private"},
        {**post, "images": [{"url": "data:image/gif;base64,R0"}, {"type": "video"}]},
    ]
    lines += [
        {**post, "caption": "x#paracegover"},
        {**post, "posted": "0001-01-01T00:00:00+23:59"},
        {**post, "id": 7, "url": "ftp://x"},
    ]
    plain = b"\n".join(json.dumps(line).encode() for line in lines)
    return [
        plain,
        json.dumps(post).encode(),
        gzip.compress(json.dumps(post).encode()),
        b"[]\n{}\n\xff\n1",
        b'{"id":' + b"1" * 1500,
        gzip.compress(plain)[:-9],
    ]


def mastodon() -> list[bytes]:
    """Return answers of a Mastodon server."""
    account = {"id": "12", "acct": "a", "url": "https://social.sample/@a", "locked": False, "indexable": True, "noindex": False}
    media = [
        {"id": "5", "type": "image", "url": "https://social.sample/m.png", "description": "A cat"},
        {"id": "6", "type": "gifv"},
    ]
    status = {
        "id": "7",
        "url": "https://social.sample/@a/7",
        "uri": "u",
        "created_at": "2026-11-20T10:00:00.000Z",
        "account": account,
    }
    status |= {
        "visibility": "public",
        "content": "<p>A <b>cat</b><br>#paracegover</p>",
        "media_attachments": media,
        "language": "pt-BR",
    }
    shared = {**status, "reblog": {**status}, "id": "8"}
    lists = [[status, shared], [status], [{**status, "visibility": "direct"}, 1, None], []]
    plain = [json.dumps(one).encode() for one in [*lists, account, {**account, "suspended": True}, {**account, "acct": "a b@c"}]]
    return [*plain, b"LINK:https://social.sample/api?max_id=7\n" + plain[0], b"{", b"null", plain[0].replace(b"cat", b"\\ud83d")]


def instagram() -> list[bytes]:
    """Return answers of the Graph API."""
    one = {"id": "1", "caption": "A cat #paracegover", "media_type": "IMAGE", "media_url": "https://c.sample/1.jpg"}
    one |= {"permalink": "https://www.instagram.com/p/1/", "timestamp": "2026-11-20T10:00:00+0000"}
    album = {**one, "id": "2", "media_type": "CAROUSEL_ALBUM", "children": {"data": [one, {"id": "3", "media_type": "VIDEO"}]}}
    paging = {"cursors": {"after": "QVFI=="}}
    result = {
        "business_discovery": {"username": "user", "media": {"data": [one, album], "paging": paging}},
        "data": [one],
        "paging": paging,
    }
    usage = {"1": [{"estimated_time_to_regain_access": 5}]}
    errors = [{"error": {"code": code, "error_subcode": 1, "message": "no"}} for code in (4, 10, 18, 24, 100, 190)]
    return [json.dumps(one).encode() for one in (result, {"data": [one]}, {"data": []}, usage, *errors, {"error": []}, [])]
