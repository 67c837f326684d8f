/* The scanner of scan.py in C, for speed alone: the same tokens, the same regions, the same giving up.

   scan.py is its specification and stands in for it where no compiler was at hand; tests/crawl/test_pairs.py holds both to
   the DOM reading of arbitrary markup. Works on the UTF-8 form of the text, in one pass, and reads nothing past its end:
   every look ahead is checked against `end`. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

typedef const char *At;
typedef struct { At name, name_end, value, value_end; } Attribute; /* value NULL: none */

typedef enum {
    PLAIN, CELL, NO_CELL, SCRIPT, STYLE, TITLE, RAW, IMG, PICTURE, SOURCE, BASE, HTML, META, SVG, MATH, SELECT, TEMPLATE,
    ODD, KEYGEN_ETC
} Kind;

static const struct { const char *name; Kind start, close; } NAMES[] = {
    {"td", CELL, NO_CELL}, {"th", CELL, NO_CELL}, {"caption", CELL, NO_CELL}, {"table", NO_CELL, CELL},
    {"tr", NO_CELL, NO_CELL}, {"tbody", NO_CELL, NO_CELL}, {"thead", NO_CELL, NO_CELL}, {"tfoot", NO_CELL, NO_CELL},
    {"col", NO_CELL, NO_CELL}, {"colgroup", NO_CELL, NO_CELL}, {"script", SCRIPT, SCRIPT}, {"style", STYLE, STYLE},
    {"title", TITLE, TITLE}, {"textarea", RAW, RAW}, {"iframe", RAW, RAW}, {"xmp", RAW, RAW}, {"noembed", RAW, RAW},
    {"noframes", RAW, RAW}, {"img", IMG, IMG}, {"picture", PICTURE, PICTURE}, {"source", SOURCE, SOURCE},
    {"base", BASE, BASE}, {"html", HTML, HTML}, {"meta", META, META}, {"svg", SVG, SVG}, {"math", MATH, MATH},
    {"select", SELECT, SELECT}, {"template", TEMPLATE, TEMPLATE}, {"image", ODD, ODD}, {"plaintext", ODD, ODD},
    {"frameset", ODD, ODD}, {"input", KEYGEN_ETC, KEYGEN_ETC}, {"keygen", KEYGEN_ETC, KEYGEN_ETC},
    {"button", KEYGEN_ETC, KEYGEN_ETC},
};
enum { COUNT = sizeof NAMES / sizeof *NAMES };
static signed char by_first[26][COUNT + 1]; /* indexes into NAMES by first letter, ended by -1 */
static unsigned char is_plain[256], is_space[256], ends_name[256], ends_attribute[256];

static inline int letter(char c) { return (unsigned char)((c | 32) - 'a') < 26; }
static inline int space(char c) { return is_space[(unsigned char)c]; }

static int same(At at, const char *name, size_t size) { /* ASCII letters of either case */
    for (size_t i = 0; i < size; i++)
        if (!letter(at[i]) || (at[i] | 32) != name[i]) return 0;
    return 1;
}

static int named(At from, At to, const char *name) {
    size_t size = strlen(name);
    if ((size_t)(to - from) != size) return 0;
    for (size_t i = 0; i < size; i++) {
        char c = from[i];
        if ((c >= 'A' && c <= 'Z' ? c | 32 : c) != name[i]) return 0;
    }
    return 1;
}

/* The kind of the tag whose name begins at `at`, and where the name ends; NULL there when the text ends first. */
static Kind kind_of(At at, At end, int closing, At *name_end) {
    At p = at;
    while (p < end && !ends_name[(unsigned char)*p]) p++;
    *name_end = p < end ? p : NULL;
    size_t size = (size_t)(p - at);
    for (signed char *index = by_first[(*at | 32) - 'a']; *index >= 0; index++) {
        const char *name = NAMES[*index].name;
        if (strlen(name) == size && same(at, name, size)) return closing ? NAMES[*index].close : NAMES[*index].start;
    }
    return PLAIN;
}

/* The next attribute from *at on: 1; the tag's end, *at then after its '>': 0; the text's end: -1. */
static int next_attribute(At *at, At end, Attribute *found) {
    At p = *at;
    while (p < end && (space(*p) || *p == '/')) p++;
    if (p == end) return -1;
    if (*p == '>') { *at = p + 1; return 0; }
    found->name = p++;
    while (p < end && !ends_attribute[(unsigned char)*p]) p++;
    found->name_end = p;
    found->value = found->value_end = NULL;
    At q = p;
    while (q < end && space(*q)) q++;
    if (q < end && *q == '=') {
        q++;
        while (q < end && space(*q)) q++;
        if (q == end) return -1;
        if (*q == '"' || *q == '\'') {
            At close = memchr(q + 1, *q, (size_t)(end - q - 1));
            if (!close) return -1;
            found->value = q + 1;
            found->value_end = close;
            p = close + 1;
        } else if (*q == '>') {
            p = q;
        } else {
            found->value = q;
            while (q < end && !space(*q) && *q != '>') q++;
            found->value_end = p = q;
        }
    }
    *at = p;
    return 1;
}

static At tag_end(At at, At end) {
    Attribute ignored;
    int state;
    while ((state = next_attribute(&at, end, &ignored)) > 0) {}
    return state < 0 ? NULL : at;
}

/* After "<!--": where the comment is over, or NULL. */
static At comment_end(At at, At end) {
    At p = at + 4;
    if (p < end && *p == '>') return p + 1;
    if (end - p > 1 && p[0] == '-' && p[1] == '>') return p + 2;
    while ((p = memchr(p, '-', (size_t)(end - p)))) {
        if (end - p > 2 && p[1] == '-' && (p[2] == '>' || (p[2] == '!' && end - p > 3 && p[3] == '>')))
            return p + (p[2] == '>' ? 3 : 4);
        p++;
    }
    return NULL;
}

static int is_comment(At at, At end) { return end - at >= 4 && !memcmp(at, "<!--", 4); }

static At past(At at, At end, char c) {
    At found = at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
    return found ? found + 1 : NULL;
}

/* "<name" (or "</name" when closing) followed by what ends a name, or NULL. */
static At find_tag(At at, At end, const char *name, size_t size, int closing) {
    while (at < end && (at = memchr(at, '<', (size_t)(end - at)))) {
        At p = at + 1;
        if (!closing || (p < end && *p++ == '/'))
            if ((size_t)(end - p) > size && same(p, name, size) && ends_name[(unsigned char)p[size]]) return at;
        at++;
    }
    return NULL;
}

static At find_text(At at, At end, const char *text, size_t size) {
    while ((size_t)(end - at) >= size && (at = memchr(at, text[0], (size_t)(end - at) - size + 1))) {
        if (!memcmp(at, text, size)) return at;
        at++;
    }
    return NULL;
}

/* What is no tag though it begins with '<', comments aside: where it is over, `at` itself for a tag, NULL for the text's end. */
static At no_tag(At at, At end) {
    if (end - at < 2) return end; /* a lone '<' is text */
    if (letter(at[1])) return at;
    if (at[1] == '!' || at[1] == '?') return past(at + 2, end, '>');
    if (at[1] == '/') return end - at > 2 && letter(at[2]) ? at : past(at + 2, end, '>');
    return at + 1;
}

static int forbidden(Kind region, Kind kind) {
    switch (kind) {
    case PLAIN: case SOURCE: return 0;
    case KEYGEN_ETC: return region == SELECT;
    case CELL: case NO_CELL: case IMG: case PICTURE: case BASE: case HTML: case META: return region != TEMPLATE;
    case ODD: return 1;
    default: return 1;
    }
}

/* From the start tag of a region: where its end tag begins, or NULL when anything in it might matter. */
static At region_end(At at, At end, Kind region, const char *name) {
    size_t size = strlen(name);
    At p = tag_end(at + 1 + size, end);
    while (p && p < end && (p = memchr(p, '<', (size_t)(end - p)))) {
        if (is_comment(p, end)) { p = comment_end(p, end); continue; }
        if (end - p > 2 && p[1] == '!' && p[2] == '[') return NULL;
        At over = no_tag(p, end);
        if (over != p) { p = over; continue; }
        int closing = p[1] == '/';
        At name_end, word = p + 1 + closing;
        Kind kind = kind_of(word, end, closing, &name_end);
        if (!name_end) return NULL;
        if (closing && kind == region) return p;
        if (kind == ODD && region == TEMPLATE && named(word, name_end, "image")) kind = PLAIN;
        if (!closing && region == SVG && (kind == STYLE || kind == TITLE)) {
            p = tag_end(name_end, end);
            p = p ? memchr(p, '<', (size_t)(end - p)) : NULL;
            size_t length = (size_t)(name_end - word);
            if (!p || (size_t)(end - p) <= 2 + length || p[1] != '/' || !same(p + 2, kind == STYLE ? "style" : "title", length) ||
                !ends_name[(unsigned char)p[2 + length]])
                return NULL;
            p = tag_end(p + 2 + length, end);
            continue;
        }
        if (forbidden(region, kind)) return NULL;
        p = tag_end(name_end, end);
    }
    return NULL;
}

static const char *const WANTED[] = {"src", "alt", "srcset", "data-src", "data-original", "data-lazy-src", "data-srcset", "type",
                                     "href", "lang", "name", "content"};
enum { WANTED_COUNT = sizeof WANTED / sizeof *WANTED };
static PyObject *wanted[WANTED_COUNT];

static PyObject *string(At from, At to, PyObject *unescape) {
    size_t size = (size_t)(to - from);
    PyObject *text = PyUnicode_DecodeUTF8(from, (Py_ssize_t)size, "replace");
    if (text && (memchr(from, '&', size) || memchr(from, '\r', size))) {
        PyObject *plain = PyObject_CallOneArg(unescape, text);
        Py_DECREF(text);
        return plain;
    }
    return text;
}

/* The attributes that matter, as a dict; *at then after the tag. NULL with an exception, or without one: the text ends. */
static PyObject *attributes(At *at, At end, PyObject *unescape) {
    PyObject *found = PyDict_New();
    Attribute attribute;
    int state;
    if (!found) return NULL;
    while ((state = next_attribute(at, end, &attribute)) > 0) {
        size_t size = (size_t)(attribute.name_end - attribute.name);
        if (size < 3 || size > 13) continue;
        for (int i = 0; i < WANTED_COUNT; i++) {
            if (!named(attribute.name, attribute.name_end, WANTED[i])) continue;
            PyObject *value = attribute.value ? string(attribute.value, attribute.value_end, unescape) : Py_NewRef(Py_None);
            if (!value || !PyDict_SetDefault(found, wanted[i], value)) {
                Py_XDECREF(value);
                Py_DECREF(found);
                return NULL;
            }
            Py_DECREF(value);
            break;
        }
    }
    if (state < 0) Py_CLEAR(found);
    return found;
}

static int add_image(PyObject *images, PyObject *image, PyObject *sources) {
    PyObject *pair = PyTuple_Pack(2, image, sources);
    int failed = !pair || PyList_Append(images, pair) < 0;
    Py_XDECREF(pair);
    return failed ? -1 : 0;
}

/* The images and sources of a picture whose start tag is at *at; 1 and *at at its end tag, 0: odd, -1: exception. */
static int picture(At *at, At end, PyObject *images, PyObject *unescape) {
    PyObject *sources = PyList_New(0), *inner = PyList_New(0);
    int result = -1;
    At p = tag_end(*at + 8, end);
    if (!sources || !inner) goto done;
    result = 0;
    while (p && p < end && (p = memchr(p, '<', (size_t)(end - p)))) {
        if (is_comment(p, end)) { p = comment_end(p, end); continue; }
        if (end - p < 3 || no_tag(p, end) != p) break;
        int closing = p[1] == '/';
        At name_end;
        Kind kind = kind_of(p + 1 + closing, end, closing, &name_end);
        if (closing && kind == PICTURE && name_end) { *at = p; result = 1; break; }
        if ((kind != IMG && kind != SOURCE) || !name_end) break;
        p = name_end;
        PyObject *given = attributes(&p, end, unescape);
        if (!given) { result = PyErr_Occurred() ? -1 : 0; break; }
        int failed = closing ? 0 : PyList_Append(kind == IMG ? inner : sources, given);
        Py_DECREF(given);
        if (failed) { result = -1; break; }
    }
    for (Py_ssize_t i = 0; result == 1 && i < PyList_GET_SIZE(inner); i++)
        if (add_image(images, PyList_GET_ITEM(inner, i), sources) < 0) result = -1;
done:
    Py_XDECREF(sources);
    Py_XDECREF(inner);
    return result;
}

/* A script, style, title ... whose start tag is at `at`: where the end tag begins, `end` when there is none, NULL when odd. */
static At raw_end(At name_end, At end, Kind kind, At word) {
    char name[16];
    size_t size = (size_t)(name_end - word);
    for (size_t i = 0; i < size; i++) name[i] = (char)(word[i] | 32);
    At p = tag_end(name_end, end);
    if (!p) return end;
    At close = find_tag(p, end, name, size, 1), stop = close ? close : end;
    if (kind == SCRIPT && (!close || find_text(p, stop, "<!--", 4)) && find_tag(p, stop, name, size, 0)) return NULL;
    return stop;
}

/* scan(text or its UTF-8 form, unescape) -> (images, base, language, metas), or None for a page whose tree has to be built. */
static PyObject *scan(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    Py_ssize_t size;
    At p = NULL;
    if (count == 2 && PyBytes_Check(args[0])) {
        p = PyBytes_AS_STRING(args[0]);
        size = PyBytes_GET_SIZE(args[0]);
    } else if (count == 2) {
        p = PyUnicode_AsUTF8AndSize(args[0], &size);
    }
    if (!p) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "scan(text, unescape)");
        return NULL;
    }
    At end = p + size;
    PyObject *unescape = args[1], *images = PyList_New(0), *metas = PyList_New(0), *result = NULL;
    PyObject *base = Py_NewRef(Py_None), *language = Py_NewRef(Py_None);
    int misplaced = 0, odd = 0;
    if (!images || !metas) goto done;
    while (p && p < end && (p = memchr(p, '<', (size_t)(end - p)))) {
        if (is_comment(p, end)) { p = comment_end(p, end); continue; }
        At over = no_tag(p, end);
        if (over != p) { p = over; continue; }
        int closing = p[1] == '/';
        At name_end, word = p + 1 + closing;
        Kind kind = kind_of(word, end, closing, &name_end);
        if (!name_end) break;
        if (kind == CELL || kind == NO_CELL) {
            p = tag_end(name_end, end);
            misplaced = kind == NO_CELL;
            continue;
        }
        if (closing) kind = PLAIN;
        switch (kind) {
        case SCRIPT: case STYLE: case TITLE: case RAW:
            p = raw_end(name_end, end, kind, word);
            odd = !p;
            break;
        case SVG: case MATH: case SELECT: case TEMPLATE:
            p = region_end(p, end, kind, kind == SVG ? "svg" : kind == MATH ? "math" : kind == SELECT ? "select" : "template");
            odd = !p;
            break;
        case PICTURE: {
            int held = misplaced ? 0 : picture(&p, end, images, unescape);
            if (held < 0) goto done;
            odd = !held;
            break;
        }
        case ODD:
            odd = tag_end(name_end, end) != NULL;
            p = end;
            break;
        case IMG: case BASE: case HTML: case META: {
            p = name_end;
            PyObject *given = attributes(&p, end, unescape), *value;
            if (!given) {
                if (PyErr_Occurred()) goto done;
                p = end;
                break;
            }
            int failed = 0;
            if (kind == IMG) {
                PyObject *none = misplaced ? NULL : PyTuple_New(0);
                odd = misplaced;
                failed = none && add_image(images, given, none) < 0;
                Py_XDECREF(none);
            } else if (kind == META) {
                if (PyDict_Contains(given, wanted[10]) == 1 && PyDict_Contains(given, wanted[11]) == 1)
                    failed = PyList_Append(metas, given) < 0;
            } else {
                PyObject **keep = kind == BASE ? &base : &language;
                odd = kind == BASE && misplaced;
                if (*keep == Py_None && (value = PyDict_GetItem(given, wanted[kind == BASE ? 8 : 9]))) {
                    PyObject *text = value == Py_None ? PyUnicode_New(0, 0) : Py_NewRef(value);
                    failed = !text;
                    if (text) Py_SETREF(*keep, text);
                }
            }
            Py_DECREF(given);
            if (failed) goto done;
            break;
        }
        default:
            p = tag_end(name_end, end);
        }
        if (odd) break;
    }
    result = odd ? Py_NewRef(Py_None) : PyTuple_Pack(4, images, base, language, metas);
done:
    Py_XDECREF(images);
    Py_XDECREF(metas);
    Py_XDECREF(base);
    Py_XDECREF(language);
    return result;
}

/* fields(data, at) -> (first line, {lower-case name: value}, where the body begins or -1); see fields.py. */
static PyObject *fields(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    char *data;
    Py_ssize_t size, start = count == 2 ? PyLong_AsSsize_t(args[1]) : -1;
    if (count != 2 || PyErr_Occurred() || PyBytes_AsStringAndSize(args[0], &data, &size) < 0 || start < 0 || start > size) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "fields(data, at)");
        return NULL;
    }
    At p = data + start, end = data + size, line_end;
    PyObject *found = PyDict_New(), *first = NULL, *result = NULL;
    Py_ssize_t body = -1;
    if (!found) return NULL;
    while (p < end && (line_end = memchr(p, '\n', (size_t)(end - p)))) {
        At next = line_end + 1, to = line_end > p && line_end[-1] == '\r' ? line_end - 1 : line_end;
        if (!first) {
            if (!(first = PyBytes_FromStringAndSize(p, to - p))) goto done;
        } else if (to == p) {
            body = next - data;
            break;
        } else {
            At colon = memchr(p, ':', (size_t)(to - p));
            if (colon) {
                At from = p, until = colon, value = colon + 1;
                while (from < until && (*from == ' ' || *from == '\t')) from++;
                while (until > from && (until[-1] == ' ' || until[-1] == '\t')) until--;
                while (value < to && (*value == ' ' || *value == '\t')) value++;
                while (to > value && (to[-1] == ' ' || to[-1] == '\t')) to--;
                PyObject *name = PyBytes_FromStringAndSize(NULL, until - from);
                PyObject *text = name ? PyBytes_FromStringAndSize(value, to - value) : NULL;
                if (!text) { Py_XDECREF(name); goto done; }
                char *lower = PyBytes_AS_STRING(name);
                for (Py_ssize_t i = 0; i < until - from; i++)
                    lower[i] = from[i] >= 'A' && from[i] <= 'Z' ? (char)(from[i] | 32) : from[i];
                PyObject *before = PyDict_GetItemWithError(found, name);
                if (before) {
                    PyObject *joined = Py_NewRef(before);
                    PyBytes_ConcatAndDel(&joined, PyBytes_FromStringAndSize(", ", 2));
                    PyBytes_ConcatAndDel(&joined, text);
                    text = joined;
                }
                int failed = !text || PyErr_Occurred() || PyDict_SetItem(found, name, text) < 0;
                Py_DECREF(name);
                Py_XDECREF(text);
                if (failed) goto done;
            }
        }
        p = next;
    }
    if (first || (first = PyBytes_FromStringAndSize("", 0))) result = Py_BuildValue("(OOn)", first, found, body);
done:
    Py_DECREF(found);
    Py_XDECREF(first);
    return result;
}

/* After the opening quote of a JSON string: after its closing one, or NULL. */
static At json_string(At p, At end) {
    while (p < end && *p != '"') p += *p == '\\' && end - p > 1 ? 2 : 1;
    return p < end ? p + 1 : NULL;
}

/* image_links(block) -> (how many, their JSON array), of the links a WAT record gives as {"path":"IMG@/src", ...} of strings. */
static PyObject *image_links(PyObject *module, PyObject *block) {
    (void)module;
    static const char OPEN[] = "{\"path\":\"IMG@/src\"";
    char *data;
    Py_ssize_t size, count = 0, length = 1;
    if (PyBytes_AsStringAndSize(block, &data, &size) < 0) return NULL;
    /* A link is longer than 16 bytes, and each may get a comma that the record does not have. */
    char *links = PyMem_Malloc((size_t)size + (size_t)size / 16 + 2);
    if (!links) return PyErr_NoMemory();
    At p = data, end = data + size;
    links[0] = '[';
    while ((p = find_text(p, end, OPEN, sizeof OPEN - 1))) {
        At q = p + sizeof OPEN - 1;
        while (end - q > 2 && q[0] == ',' && q[1] == '"') {
            q = json_string(q + 2, end);
            if (!q || end - q < 2 || q[0] != ':' || q[1] != '"') {
                q = NULL; /* a name without a string: no link, whatever follows */
                break;
            }
            q = json_string(q + 2, end);
            if (!q) break;
        }
        if (q && q < end && *q == '}') { /* otherwise the count tells that one was left out */
            if (count++) links[length++] = ',';
            memcpy(links + length, p, (size_t)(q + 1 - p));
            length += q + 1 - p;
            p = q + 1;
        } else {
            p += sizeof OPEN - 1;
        }
    }
    links[length++] = ']';
    PyObject *result = Py_BuildValue("(ny#)", count, links, length);
    PyMem_Free(links);
    return result;
}

static int escape(At p, At end) { return end - p > 2 && Py_ISXDIGIT(p[1]) && Py_ISXDIGIT(p[2]); }

/* join(reference, folders) -> the address of a plain relative reference, or None for any other; see resolve.py. */
static PyObject *join(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    if (count != 2 || !PyUnicode_Check(args[0]) || !PyTuple_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "join(reference, folders)");
        return NULL;
    }
    Py_ssize_t depth = PyTuple_GET_SIZE(args[1]), up = 0;
    if (!depth || !PyUnicode_IS_ASCII(args[0])) Py_RETURN_NONE;
    At p = (At)PyUnicode_1BYTE_DATA(args[0]), end = p + PyUnicode_GET_LENGTH(args[0]);
    for (; end - p > 2 && p[0] == '.' && p[1] == '.' && p[2] == '/'; p += 3) up++;
    At rest = p;
    if (p == end || (!Py_ISALNUM(*p) && *p != '_')) Py_RETURN_NONE;
    for (; p < end && *p != '?'; p++) {
        if (*p == '/') {
            if (end - p > 1 && p[1] == '/') Py_RETURN_NONE;
        } else if (*p == '.') {
            if (p[-1] == '/' && (end - p < 2 || (!Py_ISALNUM(p[1]) && p[1] != '_' && p[1] != '-'))) Py_RETURN_NONE;
        } else if (!is_plain[(unsigned char)*p] && !(*p == '%' && escape(p, end))) {
            Py_RETURN_NONE;
        }
    }
    if (p < end && ++p == end) Py_RETURN_NONE;
    for (; p < end; p++)
        if (!is_plain[(unsigned char)*p] && !strchr("./?:;", *p) && !(*p == '%' && escape(p, end))) Py_RETURN_NONE;
    PyObject *tail = PyUnicode_DecodeASCII(rest, end - rest, NULL);
    if (!tail) return NULL;
    PyObject *whole = PyUnicode_Concat(PyTuple_GET_ITEM(args[1], up < depth ? up : depth - 1), tail);
    Py_DECREF(tail);
    return whole;
}

/* tidy(alt) -> whether folding would change nothing in it, told by plain ASCII and single spaces. */
static PyObject *tidy(PyObject *module, PyObject *alt) {
    (void)module;
    if (!PyUnicode_Check(alt) || !PyUnicode_IS_ASCII(alt)) Py_RETURN_FALSE;
    At p = (At)PyUnicode_1BYTE_DATA(alt), end = p + PyUnicode_GET_LENGTH(alt);
    if (p < end && (*p == ' ' || end[-1] == ' ')) Py_RETURN_FALSE;
    for (; p < end; p++)
        if (*p < 32 || *p == 127 || *p == '&' || (*p == ' ' && p[1] == ' ')) Py_RETURN_FALSE;
    Py_RETURN_TRUE;
}

static PyMethodDef methods[] = {
    {"join", (PyCFunction)(void (*)(void))join, METH_FASTCALL, "The address of a plain relative reference; see resolve.py."},
    {"tidy", tidy, METH_O, "Whether folding changes nothing in an alt-text; see pairs.py."},
    {"image_links", image_links, METH_O, "The image links of a WAT record; see wat.py."},
    {"fields", (PyCFunction)(void (*)(void))fields, METH_FASTCALL, "The fields of a head; see fields.py."},
    {"scan", (PyCFunction)(void (*)(void))scan, METH_FASTCALL, "The images of a page's text; see scan.py."}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_scan", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__scan(void) {
    int used[26] = {0};
    memset(by_first, -1, sizeof by_first);
    for (int i = 0; i < COUNT; i++) by_first[NAMES[i].name[0] - 'a'][used[NAMES[i].name[0] - 'a']++] = (signed char)i;
    for (int c = 0; c < 128; c++) is_plain[c] = Py_ISALNUM(c) || (c && strchr("_~$,'*()@!+=&-", c));
    for (const char *c = "\t\n\f\r "; *c; c++) is_space[(unsigned char)*c] = 1;
    for (const char *c = "\t\n\f\r />"; *c; c++) ends_name[(unsigned char)*c] = 1;
    for (const char *c = "\t\n\f\r />="; *c; c++) ends_attribute[(unsigned char)*c] = 1;
    for (int i = 0; i < WANTED_COUNT; i++)
        if (!wanted[i] && !(wanted[i] = PyUnicode_InternFromString(WANTED[i]))) return NULL;
    return PyModule_Create(&definition);
}
