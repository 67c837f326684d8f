"""Images are opened in one place."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.support import PROJECT

OPENER = "components/web/images/opening.py"
MATERIAL = ("components/sample/images.py", "components/sample/gallery.py")
"""Draw the sample from material of its packages, with its transparency."""
OPENING = {"imread", "imdecode", "decode_jpeg", "decode_png", "JpegImageFile", "PngImageFile", "GifImageFile", "WebPImageFile"}
"""Functions and classes of other image libraries, and of Pillow beside ``Image.open``."""
LIBRARIES = (b"PIL", b"cv2", b"imageio", b"torchvision", b"matplotlib")


def opening_calls(path: Path) -> list[int]:
    """Return the lines of a module that open an image by themselves."""
    source, names = path.read_bytes(), {"PIL.Image"}
    if not any(library in source for library in LIBRARIES):
        return []
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {alias.asname or alias.name for alias in node.names if node.module == "PIL" and alias.name == "Image"}
            names |= {
                f"{alias.asname or alias.name}()" for alias in node.names if node.module == "PIL.Image" and alias.name == "open"
            }
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            owner, _, name = called.rpartition(".")
            if (name == "open" and owner in names) or f"{called}()" in names or name in OPENING:
                lines.append(node.lineno)
    return lines


def test_only_the_opener_and_the_drawing_of_the_sample_open_images() -> None:
    files = {
        path.relative_to(PROJECT).as_posix(): path for top in ("components", "flows") for path in (PROJECT / top).rglob("*.py")
    }
    opening = {name for name, path in files.items() if opening_calls(path)}
    assert opening - {OPENER} == set(MATERIAL)


def test_a_module_that_opens_an_image_in_any_spelling_is_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    for line in (
        "from PIL import Image\nImage.open(data)",
        "from PIL import Image as images\nimages.open(data)",
        "from PIL.Image import open as show\nshow(data)",
        "import PIL.Image\nPIL.Image.open(data)",
        "import cv2\ncv2.imdecode(data, 1)",
        "def f():\n    from PIL import Image\n    with Image.open(data) as image: pass",
    ):
        path.write_text(line)
        assert opening_calls(path), line
    path.write_text("from PIL import Image\nopen(data)\nImage.new('L', (1, 1))")
    assert not opening_calls(path)
