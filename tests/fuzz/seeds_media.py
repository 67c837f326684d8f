"""Initial inputs for images and audio: tiny files of every format, and inconsistent headers."""

from __future__ import annotations

import io
import struct


def images() -> list[bytes]:
    """Return tiny images of every format, and files that are not images."""
    from PIL import Image

    image = Image.linear_gradient("L").resize((24, 16)).convert("RGB")
    clear = image.copy()
    clear.putalpha(100)
    paletted = image.quantize(8)
    exif = Image.Exif()
    exif[0x0112] = 6
    result: list[bytes] = []

    def save(what: Image.Image, kind: str, **options: object) -> None:
        buffer = io.BytesIO()
        what.save(buffer, kind, **options)
        result.append(buffer.getvalue())

    save(image, "JPEG", quality=20)
    save(image, "JPEG", quality=20, progressive=True, exif=exif, comment=b"c")
    save(image.convert("L"), "JPEG", quality=5)
    save(image.convert("CMYK"), "JPEG", quality=5)
    for mode in ("RGB", "1", "L", "I;16"):
        save(image.convert("L").convert(mode) if mode != "RGB" else image, "PNG")
    save(clear, "PNG", dpi=(72, 72))
    save(paletted, "PNG", transparency=1)
    save(paletted, "PNG", save_all=True, append_images=[paletted.rotate(90)])
    save(paletted, "GIF", save_all=True, append_images=[paletted.rotate(180)], loop=0, comment=b"c")
    save(paletted, "GIF", interlace=True, transparency=2)
    save(image, "WEBP", quality=10, exif=exif)
    save(clear, "WEBP", lossless=True)
    save(clear, "WEBP", save_all=True, append_images=[clear.rotate(180)], quality=5)
    save(image.resize((4, 4)), "BMP")
    save(image.resize((4, 4)), "TIFF")
    wide = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 20_001, 300) + b"\x08\x02\0\0\0"
    others = [
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<!doctype html><html>",
        b"\0\0\0 ftypavif",
        wide,
        b"RIFF\x10\0\0\0WEBPVP8X",
    ]
    return [*result, *others, result[0][:-40], result[1][:200]]


def sounds() -> list[bytes]:
    """Return tiny audio files, and inconsistent headers."""
    import numpy as np
    import soundfile

    samples = np.sin(np.arange(160) / 5) / 2
    result: list[bytes] = []
    kinds = [
        ("WAV", "PCM_16"),
        ("WAV", "PCM_U8"),
        ("WAV", "PCM_24"),
        ("WAV", "FLOAT"),
        ("WAV", "DOUBLE"),
        ("WAV", "ULAW"),
        ("WAV", "MS_ADPCM"),
    ]
    for kind, subtype in [*kinds, ("WAVEX", "PCM_16"), ("RF64", "PCM_16"), ("FLAC", "PCM_16"), ("FLAC", "PCM_24")]:
        for channels in (1, 2):
            buffer = io.BytesIO()
            soundfile.write(buffer, np.stack([samples] * channels, 1), 8000, format=kind, subtype=subtype)
            result.append(buffer.getvalue())
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, 16_000, format="OGG", subtype="OPUS")
    result.append(buffer.getvalue())
    plain = result[0]
    lies = [
        plain[:40] + b"\xff\xff\xff\xff" + plain[44:],
        plain[:22] + b"\0\0" + plain[24:],
        plain[:24] + b"\0\0\0\0" + plain[28:],
        plain[:-20],
    ]
    big = b"RIFX" + struct.pack(">I", 36 + 8) + b"WAVEfmt " + struct.pack(">IHHIIHH", 16, 1, 1, 8000, 16_000, 2, 16) + b"data"
    return [one for one in [*result, *lies, big + struct.pack(">I", 8) + bytes(8), b"", b"OggS", b"fLaC"] if len(one) <= 3000]
