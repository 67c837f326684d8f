"""Nothing that this project loads can run code: no pickles but of its own processes, and no YAML that builds objects.

Ruff's rules S301, S302, S307 and S102 (pyproject.toml) refuse pickle, marshal, eval and exec; this test holds what Ruff does not
know: the arguments of loaders.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
import yaml

from components.core.params import YAML_LOADER
from tests.support import PROJECT

SAFE_YAML = {
    "YAML_LOADER",
    "yaml.BaseLoader",
    "yaml.SafeLoader",
    "yaml.CSafeLoader",
    "getattr(yaml, 'CSafeLoader', yaml.SafeLoader)",
}
FORBIDDEN = {
    "joblib.load", "torch.hub.load",
    "mlflow.pytorch.load_model", "mlflow.sklearn.load_model", "pandas.read_pickle", "pd.read_pickle",
    "cloudpickle.load", "cloudpickle.loads", "dill.load", "dill.loads", "shelve.open", "torch.jit.load", "yaml.unsafe_load",
    "yaml.full_load", "yaml.load_all", "yaml.unsafe_load_all", "yaml.full_load_all",
}  # fmt: skip
REMOTE_CODE = ("trust_remote_code", "allow_pickle")


def unsafe(source: str) -> Iterator[str]:
    """Yield each call that could run what it loads."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name, keywords = ast.unparse(node.func), {each.arg: ast.unparse(each.value) for each in node.keywords}
        loader = keywords.get("Loader") or (ast.unparse(node.args[1]) if len(node.args) > 1 else "")
        if (
            name in FORBIDDEN
            or (name in ("yaml.load", "yaml.compose", "yaml.parse") and loader not in SAFE_YAML)
            or (name == "torch.load" and keywords.get("weights_only") != "True")
            or any(keywords.get(word, "False") != "False" for word in REMOTE_CODE)
        ):
            yield f"line {node.lineno}: {ast.unparse(node)[:80]}"


def test_no_call_loads_what_could_run_code() -> None:
    found = {
        str(path.relative_to(PROJECT)): calls
        for folder in ("components", "flows", "infra")
        for path in sorted((PROJECT / folder).rglob("*.py"))
        if (calls := list(unsafe(path.read_text(encoding="utf-8"))))
    }
    assert found == {}
    assert issubclass(YAML_LOADER, yaml.SafeLoader) or "Safe" in YAML_LOADER.__name__


@pytest.mark.parametrize(
    "call",
    [
        "torch.load(path)", "torch.load(path, weights_only=False)", "np.load(path, allow_pickle=True)",
        "joblib.load(path)", "yaml.load(text, yaml.Loader)", "yaml.load(text)", "mlflow.pytorch.load_model(uri)",
        "AutoModel.from_pretrained(name, trust_remote_code=True)",
    ],
)  # fmt: skip
def test_unsafe_calls_are_found(call: str) -> None:
    assert list(unsafe(call))


def test_the_rules_of_lint_are_on() -> None:
    text = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f'"{rule}"' in text for rule in ("S102", "S301", "S302", "S307", "S602", "S604", "S605"))
    ignored = [
        path for path in sorted((PROJECT / "components").rglob("*.py")) if "noqa: S301" in path.read_text(encoding="utf-8")
    ]
    assert [path.name for path in ignored] == ["limits.py", "ray_engine.py", "ray_groups.py"], "pickles of our own processes"
