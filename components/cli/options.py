"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Dataset = Annotated[str, typer.Option("--dataset", "-d", help="A dataset of params.yaml:chain.")]
