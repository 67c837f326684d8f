"""The fixture ``google`` for the tests of paid voices."""

from tests.google.conftest import google as google
