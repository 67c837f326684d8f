"""A real browser: Debian's Chromium, driven by Playwright. Without Chromium, the tests that need it are skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from ctypes.util import find_library

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from tests.support import HANG
from tests.support.app.browser import OPTIONS

expect.set_options(timeout=HANG * 1000)  # no test depends on the speed of the machine


@pytest.fixture(scope="package")
def playwright_of_tests() -> Iterator[Playwright]:
    """The driver of browsers, of which a process has one."""
    if shutil.which("chromium") is None or find_library("atomic") is None:  # the driver's program links libatomic
        assert not os.environ.get("CI"), "CI has to install chromium and libatomic1"
        pytest.skip("needs Chromium: apt-get install chromium libatomic1")
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(playwright_of_tests: Playwright) -> Iterator[Browser]:
    """Headless Chromium."""
    browser = playwright_of_tests.chromium.launch(executable_path=shutil.which("chromium"), args=OPTIONS)
    yield browser
    browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A new page without cookies, in English."""
    context = browser.new_context(locale="en-GB")
    context.set_default_timeout(HANG * 1000)
    yield context.new_page()
    context.close()
