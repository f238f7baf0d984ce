"""The files for GitHub are valid by their schemas, and by actionlint where that is installed."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(p for p in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if p.stem != "config")

check_jsonschema = pytest.importorskip(
    "check_jsonschema", reason="needs check-jsonschema, of the extra test"
)
CliRunner = pytest.importorskip("click.testing", reason="check-jsonschema requires it").CliRunner
yaml = pytest.importorskip("ruamel.yaml", reason="needs check-jsonschema, which requires it")


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ("github-workflows", WORKFLOWS),
        ("github-issue-forms", FORMS),
        ("github-issue-config", [GITHUB / "ISSUE_TEMPLATE" / "config.yml"]),
        ("dependabot", [GITHUB / "dependabot.yml"]),
        ("citation-file-format", [ROOT / "CITATION.cff"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_schema(schema, paths):
    assert paths
    options = ["--builtin-schema", f"vendor.{schema}", *map(str, paths)]
    found = CliRunner().invoke(check_jsonschema.main, options)
    assert found.exit_code == 0, found.output


@pytest.mark.skipif(not shutil.which("actionlint"), reason="actionlint is not installed")
def test_actionlint():
    found = subprocess.run(["actionlint", *WORKFLOWS], capture_output=True, text=True, cwd=ROOT)
    assert found.returncode == 0, found.stdout + found.stderr


def jobs():
    for path in WORKFLOWS:
        for name, job in yaml.YAML(typ="safe").load(path)["jobs"].items():
            yield pytest.param(job, id=f"{path.stem}-{name}")


@pytest.mark.parametrize("job", list(jobs()))
def test_what_a_job_calls_is_there(job):
    assert job["timeout-minutes"] <= 60
    assert job["steps"]
    for step in job["steps"]:
        for word in step.get("run", "").split():
            if word.startswith(".ci/"):
                assert (ROOT / word).is_file(), word
                assert (ROOT / word).stat().st_mode & 0o100 or sys.platform == "win32", word


def test_every_supported_python_is_tested():
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    tests = yaml.YAML(typ="safe").load(GITHUB / "workflows" / "tests.yml")
    matrix = tests["jobs"]["suite"]["strategy"]["matrix"]
    assert f">={matrix['python'][0]}" == needed
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
