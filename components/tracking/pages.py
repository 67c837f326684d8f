"""MLflow's server with a start for people who compare models: the app ``hearsight`` of ``mlflow server --app-name``.

MLflow's pages begin with tools for language models, an assistant and a notice about telemetry. What a browser shows is stored in
the browser, so the page itself sets it, once: a choice that somebody makes on the page stays.
"""

from __future__ import annotations

import json

from flask import Response, request
from mlflow.server import app as pages
from mlflow.server.fastapi_app import app as app

CHOICES = {
    "mlflow.workflowType_v1": '"machine_learning"',
    "mlflow.assistant.fab.autoOpenedOnFirstLoad_v1": "true",
    "mlflow.settings.telemetry.enabled_v1": "false",
    "mlflow.telemetry.info.alert.dismissed_v1": "true",
}
"""Key of the browser's storage → value, as MLflow's pages write them: model training, no assistant, no telemetry."""
SCRIPT = f"""<script>
for (const [key, value] of Object.entries({json.dumps(CHOICES)})) {{
  if (localStorage.getItem(key) === null) localStorage.setItem(key, value);
}}
if (!location.hash || location.hash === "#/") location.replace("#/experiments");
</script>"""


@pages.after_request
def set_choices(response: Response) -> Response:
    """Add the script to the page; other answers stay as they are."""
    if request.path == "/" and response.mimetype == "text/html":
        response.direct_passthrough = False
        response.set_data(response.get_data(as_text=True).replace("<head>", f"<head>{SCRIPT}", 1))
        del response.headers["ETag"]  # of the file without the script
    return response
