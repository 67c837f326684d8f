"""The routes by area. A new area is a module with a ``router`` and a line in :data:`ROUTERS`."""

from __future__ import annotations

from fastapi import APIRouter

from components.app.routes import campaigns, describe, feedback, rate, search, start

ROUTERS: tuple[APIRouter, ...] = (
    start.router,
    campaigns.router,
    rate.router,
    search.router,
    describe.router,
    feedback.router,
)
