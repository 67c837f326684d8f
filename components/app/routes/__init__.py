"""The routes by area. A new area is a module with a ``router`` and a line in :data:`ROUTERS`."""

from __future__ import annotations

from fastapi import APIRouter

from components.app.routes import describe, feedback, search, start

ROUTERS: tuple[APIRouter, ...] = (start.router, search.router, describe.router, feedback.router)
