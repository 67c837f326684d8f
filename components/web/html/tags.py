"""Find the tags of a page that hold images in one pass over its bytes, compiled by numba.

The pass gives up where tree building would move, hide or re-parent an image: misnested tables, foreign content that ends early,
framesets, markup in ``<select>``. ``tag_syntax`` reads one tag, ``tag_kinds`` tells which tags matter.
"""

from __future__ import annotations

import re
import sys

import numpy as np
from numba import carray, cfunc, njit, types

from components.web.html.tag_codes import BASE, GAP, HTML, IMG, INLINE, META, NOSCRIPT, PICTURE, PICTURE_END, STATE_SIZE
from components.web.html.tag_images import read_image, read_noscript, read_picture
from components.web.html.tag_kinds import (
    BREAK,
    BUTTON,
    CELL,
    FIGCAPTION,
    FIGURE,
    HEADING,
    IGNORED,
    MATH,
    NO_CELL,
    ODD,
    PLAIN,
    QUIET,
    RAW,
    SCRIPT,
    SELECT,
    SVG,
    TEMPLATE,
    A,
    read_name,
)
from components.web.html.tag_regions import end_of_raw_text, end_of_region
from components.web.html.tag_syntax import LT, add_row, end_of_tag, find_byte, may_matter, read_attributes, skip_no_tag
from components.web.html.tag_texts import (
    COUNT,
    HIDDEN,
    OPEN,
    add_byte,
    add_text,
    add_title,
    close_all,
    close_element,
    open_element,
    reset,
)
from components.web.html.word_signs import match


@njit
def find_tags(data, agent, rows, texts, buffer, state):  # type: ignore[no-untyped-def]
    """Find the tags that hold images, the base address, the language, robots directives, and the texts around.

    Where tree building would move, hide or re-parent an image, reading goes on as if it did not, for the texts.

    Args:
        data: uint8, the page's UTF-8 bytes. Broken sequences are allowed: they never extend into ASCII characters.
        agent: uint8, our product token in lower case.
        rows: int64 ``(code, start, end)``, to be filled. A tag's row has its negative code; its attributes' rows follow, each
            with its index in ``ATTRIBUTES`` and its value's bounds (-1: no value). Images and sources between ``PICTURE`` and
            ``PICTURE_END`` belong together; those between ``NOSCRIPT`` and ``NOSCRIPT_END`` are all of a ``<noscript>``. An image
            in a link follows the link's ``HREF``; see ``read_image``. Repeated attributes are repeated.
        texts: int64, to be filled: see ``tag_texts.close_text``.
        buffer: uint8, at least as long as ``data`` and one more: the characters of the texts.
        state: int64 of ``STATE_SIZE``.

    Returns:
        Whether the page can be read without its tree, and the numbers of rows and of texts, which may be more than fit.
    """
    end = len(data)
    count, position, plain, misplaced, in_body = 0, 0, True, False, False
    reset(state)
    while position >= 0:
        start, position = position, find_byte(data, position, end, LT)
        if state[OPEN]:
            add_text(data, start, position if position >= 0 else end, buffer, state)
        if position < 0:
            break
        after = skip_no_tag(data, position, end)
        if after != position:
            if state[OPEN]:
                add_byte(LT if after == position + 1 else INLINE, buffer, state)
            position = after
            continue
        closing, word, name_end, kind = read_name(data, position, end)
        if name_end < 0:
            break
        if state[OPEN]:
            add_byte(GAP if kind in (CELL, NO_CELL, BREAK, HEADING) else INLINE, buffer, state)
        before, after = count, end_of_tag(data, name_end, end) if kind == ODD else 0
        if kind in (CELL, NO_CELL):
            position = end_of_tag(data, name_end, end)
            misplaced = kind == NO_CELL
        elif closing:
            if kind > BREAK or kind in (BUTTON, NOSCRIPT):
                close_element(kind, buffer, texts, state)
            position = end_of_tag(data, name_end, end)
        elif kind in (PLAIN, BREAK, IGNORED):
            position = end_of_tag(data, name_end, end)
            in_body |= kind == IGNORED and (data[word] | 32) == 98  # no other of these names begins with b
        elif kind in (HEADING, A, BUTTON, FIGURE, FIGCAPTION):
            position = open_element(data, word, name_end, end, kind, buffer, texts, state)
        elif kind in (SCRIPT, RAW, QUIET):
            position, sure = end_of_raw_text(data, word, name_end, end, kind)
            plain = plain and sure
            if kind == QUIET and (data[word] | 32) == 116:
                add_title(data, name_end, end, position, buffer, texts, state)
        elif kind in (SVG, MATH, SELECT, TEMPLATE):
            position = end_of_region(data, name_end, end, kind)
            if position < 0:
                plain, position = False, end_of_tag(data, name_end, end)
        elif kind == PICTURE:
            plain, in_body = plain and not misplaced, True
            count = add_row(rows, count, PICTURE, 0, 0)
            position, count = read_picture(data, name_end, end, rows, count, state)
            if position < 0:
                plain, position, count = False, end_of_tag(data, name_end, end), before
            else:
                count = add_row(rows, count, PICTURE_END, 0, 0)
        elif kind == NOSCRIPT:
            position, count = read_noscript(data, name_end, end, rows, count, state)
            # Before the body its image is moved out of it.
            if position < 0 or ((misplaced or not in_body) and count > before):
                plain, position, count = False, end_of_tag(data, name_end, end), before
            state[HIDDEN] = 1
        elif kind == ODD:
            plain, position = plain and after < 0, after
        elif kind in (IMG, BASE, HTML, META):
            in_body |= kind == IMG
            if kind == IMG:
                position, count = read_image(data, name_end, end, rows, count, state)
            else:
                count = add_row(rows, count, kind, 0, 0)
                position, count, _ = read_attributes(data, name_end, end, rows, count)
            if position < 0:
                count = before
                break
            plain = plain and not (misplaced and kind in (IMG, BASE))
            if kind == META and not may_matter(data, rows, before + 1, count, agent):
                count = before
        else:  # a source outside a picture, a form control
            position = end_of_tag(data, name_end, end)
    close_all(buffer, texts, state)
    return plain, count, state[COUNT]


def _find_tags_at(data, size, agent, agent_size, rows, most_rows, texts, most_texts, buffer, state):  # type: ignore[no-untyped-def]
    """Call ``find_tags`` with addresses; what it returns replaces the first numbers of ``state``."""
    state_ = carray(state, STATE_SIZE, np.int64)
    state_[0], state_[1], state_[2] = find_tags(
        carray(data, size, np.uint8),
        carray(agent, agent_size, np.uint8),
        carray(rows, (most_rows, 3), np.int64),
        carray(texts, (most_texts, 5), np.int64),
        carray(buffer, size + 64, np.uint8),
        state_,
    )


def _match_at(data, size, texts, count, marked_alts, alts, marked_texts):  # type: ignore[no-untyped-def]
    """Call ``word_signs.match`` with addresses."""
    marks = carray(marked_alts, alts, np.uint8), carray(marked_texts, count, np.uint8)
    match(carray(data, size, np.uint8), carray(texts, (count, 5), np.int64), marks[0], marks[1])


def compile_object() -> bytes:
    """Return an object file with both functions above as ``find_tags`` and ``match``, for this machine's processor."""
    import llvmlite.binding as llvm  # On use: only the process that compiles needs it.

    byte, number, size = types.CPointer(types.uint8), types.CPointer(types.int64), types.int64
    signatures = {
        "find_tags": types.void(byte, size, byte, size, number, size, number, size, byte, number),
        "match": types.void(byte, size, number, size, byte, size, byte),
    }
    modules = []
    for name, function in (("find_tags", _find_tags_at), ("match", _match_at)):
        compiled = cfunc(signatures[name])(function)
        text = _RUNTIME.sub(r"define internal \1 {\n  call void @llvm.trap()\n  unreachable\n}", compiled.inspect_llvm())
        modules.append(llvm.parse_assembly(text.replace(compiled.native_name, name) + "\ndeclare void @llvm.trap()\n"))
    modules[0].link_in(modules[1])
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, codemodel="jitdefault", jit=True
    )
    return bytes(machine.emit_object(modules[0]))


_RUNTIME = re.compile(r"^declare ([^@\n]* @(?:numba_|NRT_|Py)\w+\([^)\n]*\)).*$", re.M)
"""Functions of numba's runtime: to report errors, which cannot happen here, and to count references, of which there are none."""


if __name__ == "__main__":
    sys.stdout.buffer.write(compile_object())
