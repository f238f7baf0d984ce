"""The playground over HTTP: what its page asks for, and what it refuses."""

import asyncio
import base64
import contextlib
import json
import random
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

from largemargin import SVC, AdaBoost, load
from largemargin.cli.model_options import parameters_of
from largemargin.machines import CARDS
from largemargin.web.playground import tables
from largemargin.web.playground.app import make_app
from largemargin.web.playground.lanes import Lanes
from largemargin.web.playground.replay import weights_of_rounds
from largemargin.web.playground.tasks import task_of
from largemargin.web.problems import Problem

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient


def some_points(n_classes=2, n=40, seed=0):
    """Clouds that overlap a little, as the page sends them."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_classes
    angles = 2 * np.pi * labels / n_classes
    X = 0.5 * np.c_[np.cos(angles), np.sin(angles)] + 0.25 * rng.normal(size=(n, 2))
    X = np.clip(X, -1, 1).round(4)
    return [[*row, int(k)] for row, k in zip(X.tolist(), labels, strict=True)]


POINTS = some_points()
ARRAY = np.array(POINTS)
X, Y = ARRAY[:, :2], ARRAY[:, 2].astype(int)


@pytest.fixture(scope="module")
def page():
    with TestClient(make_app(parameters_of, seconds=300), base_url="http://127.0.0.1") as client:
        yield client


def question(machine="SVC", points=POINTS, **params):
    return {"points": points, "machine": machine, "params": params}


def scores_in(answer):
    grid = np.frombuffer(base64.b64decode(answer["grid"]), "<f4")
    return grid.reshape(answer["problems"], -1)


def test_a_fit_is_that_of_the_library(page):
    answer = page.post("/fit", json=question(C=2.0, gamma=3.0)).json()
    model = SVC(C=2.0, gamma=3.0).fit(X, Y)
    side = np.linspace(-1, 1, answer["side"])
    grid = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    np.testing.assert_allclose(scores_in(answer)[0], model.decision_function(grid), atol=1e-5)
    assert answer["support"] == model.support_.tolist()
    np.testing.assert_allclose(answer["coefficients"], model.dual_coef_)
    np.testing.assert_allclose(answer["margins"], (2 * Y - 1) * model.decision_function(X))
    assert answer["wrong"] == np.flatnonzero(model.predict(X) != Y).tolist()
    assert answer["levels"] == [1.0, 1.0]
    numbers = {entry["name"]: entry["value"] for entry in answer["numbers"]}
    assert numbers["dual_gap_"] == pytest.approx(model.dual_gap_.max())
    assert numbers["margin_"] == pytest.approx(model.margin_.min())


def test_the_page_and_its_files(page):
    index = page.get("/")
    assert index.headers["content-type"].startswith("text/html")
    policy = index.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in index.text.replace("http-equiv", "")
    for name in ("main.js", "plane.js", "playground.css", "look.css"):
        assert page.get(f"/{name}").status_code == 200
    assert page.get("/../guard.py").status_code == 404
    machines = page.get("/machines").json()
    assert [machine["name"] for machine in machines] == [card.name for card in CARDS]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_every_word_beside_a_slider_is_taken(page, card):
    (machine,) = (m for m in page.get("/machines").json() if m["name"] == card.name)
    for control in machine["controls"]:
        for word in control["words"] if control["kind"] == "number" else []:
            answer = page.post("/fit", json=question(card.name, **{control["name"]: word}))
            assert answer.status_code == 200, (control["name"], word, answer.text)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "no points"),
        ({"points": [[0, 0]], "machine": "SVC"}, 400, "three numbers"),
        ({"points": [[0, 0, 7]], "machine": "SVC"}, 400, "classes"),
        ({"points": [[1e9, 0, 0]], "machine": "SVC"}, 400, "coordinates"),
        ({"points": [[0, 0, 0]] * 2001, "machine": "SVC"}, 413, "2,000"),
        ({"points": POINTS, "machine": "os.system"}, 400, "no machine"),
        (question(Cs=1), 400, "no parameter"),
        (question(C="many"), 400, "C must be a number"),
        (question(kernel="precomputed"), 400, "kernel must be"),
        (question(degree=2.5), 400, "whole number"),
        (question("AdaBoost", n_rounds=10**12), 400, "from 1 to 500"),
        (question(C=-1.0), 400, "C must be positive"),
        ({**question(), "view": [1, 0, 0, 1]}, 400, "left below right"),
        ({"points": [[0, 0, 0], [0.1, 0, 0]], "machine": "SVC"}, 400, "class"),
    ],
)
def test_what_is_wrong_is_said(page, body, status, words):
    answer = page.post("/fit", json=body)
    assert answer.status_code == status
    assert words in answer.json()["error"]


def test_only_pages_of_its_own_are_answered(page):
    assert (
        page.post("/fit", content=b"{}", headers={"content-type": "text/plain"}).status_code == 415
    )
    assert page.get("/", headers={"host": "evil.example"}).status_code == 421
    assert page.post("/fit", content=b"[", headers={"content-type": "application/json"}).json()[
        "error"
    ]


def test_leaving_out_a_point_is_a_fit_without_it(page):
    answer = page.post("/without", json={**question(C=5.0), "index": 3}).json()
    rows = np.delete(np.arange(len(Y)), 3)
    model = SVC(C=5.0).fit(X[rows], Y[rows])
    side = np.linspace(-1, 1, answer["side"])
    grid = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    np.testing.assert_allclose(scores_in(answer)[0], model.decision_function(grid), atol=1e-5)
    assert answer["answer"] == model.predict(X[3:4])[0]
    assert page.post("/without", json={**question(), "index": 99}).status_code == 400


def test_replay_ends_in_the_fit(page):
    for machine, params in (("VotedPerceptron", {}), ("MIRA", {"budget": 5}), ("AdaBoost", {})):
        fit = page.post("/fit", json=question(machine, **params)).json()
        found = page.post("/replay", json=question(machine, **params)).json()
        last = {**found["common"], **found["frames"][-1]}
        assert last["wrong"] == fit["wrong"], machine
        assert found["frames"][0]["words"]
        if machine == "MIRA":
            assert set(last["support"]) == set(fit["support"])
            assert all(len(frame["support"]) <= 5 for frame in found["frames"])


def test_weights_of_rounds_give_the_weighted_errors():
    for regularization in (0.0, 50.0):
        params = {"n_rounds": 20, "regularization": regularization}
        task = task_of(question("AdaBoost", **params), parameters_of)
        model = AdaBoost(**params).fit(X, Y)
        for weights, classifier, error in zip(
            weights_of_rounds(task, model), model.estimators_, model.weighted_errors_, strict=True
        ):
            assert weights @ (classifier.predict(X) != Y) == pytest.approx(error, abs=1e-9)


def test_the_path_of_C(page):
    found = page.post("/replay", json=question(C=3.0)).json()
    (frame,) = [one for one in found["frames"] if one["words"].startswith("C = 3,")]
    assert frame["support"] == SVC(C=3.0).fit(X, Y).support_.tolist()
    assert all(one["gap"] < 1e-3 for one in found["frames"])


def test_the_steps_of_the_solver(page):
    found = page.post("/replay", json={**question(C=3.0), "kind": "steps"}).json()
    assert list(found["kinds"]) == ["path", "steps"]
    coefs = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in (4, 5):
            model = SVC(C=3.0, max_iter=k).fit(X, Y)
            coefs[k] = np.zeros(len(Y))
            coefs[k][model.support_] = model.dual_coef_[0]
    frame = found["frames"][4]
    assert frame["words"].startswith("After 5 steps")
    assert frame["gap"] == pytest.approx(model.dual_gap_.max())
    assert frame["lit"] == np.flatnonzero(coefs[4] != coefs[5]).tolist()
    assert len(frame["lit"]) == 2
    assert found["frames"][-1]["gap"] < 1e-3 < found["frames"][0]["gap"]
    assert page.post("/replay", json={**question(), "kind": "rounds"}).status_code == 400


def test_a_certificate_in_sentences(page):
    statements = page.post("/certificate", json=question()).json()["statements"]
    known = SVC(C=10.0).fit(X, Y).certificate(X, Y)
    assert [one["name"] for one in statements] == [one.name for one in known]
    assert [one["vacuous"] for one in statements] == [one.vacuous for one in known]
    assert all(one["sentence"] for one in statements)


def test_the_script_makes_the_same_fit(page):
    text = page.post("/script", json=question(C=7.0, kernel="poly")).json()["script"]
    known = {}
    fit, _, _ = text.partition("plot_decision(model")
    exec(fit, known)
    np.testing.assert_array_equal(known["X"], X)
    assert known["model"].get_params() == SVC(C=7.0, kernel="poly").get_params()
    assert known["model"].n_support_ == SVC(C=7.0, kernel="poly").fit(X, Y).n_support_


def test_the_model_file(page, tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(page.post("/model", json=question(C=7.0)).content)
    model = load(path)
    np.testing.assert_array_equal(model.predict(X), SVC(C=7.0).fit(X, Y).predict(X))
    assert model.n_jobs is None
    assert model.max_seconds is None


def test_a_table_with_two_columns_and_a_label(page):
    text = "long;wide;kind\n1,5;2;a\n2,5;3;b\n3,5;?;a\n4,5;5;b\n"
    answer = page.post("/table", json={"text": text}).json()
    assert (answer["x"], answer["y"], answer["label"]) == ("long", "wide", "kind")
    assert [point[2] for point in answer["points"]] == [0, 1, 1]
    assert "missing" in answer["sentence"]
    other = page.post("/table", json={"text": text, "x": "wide", "y": "long"}).json()
    assert [p[:2] for p in other["points"]] == [p[1::-1] for p in answer["points"]]
    assert page.post("/table", json={"text": text, "x": "tall"}).status_code == 400
    assert page.post("/table", json={"text": ""}).status_code == 400
    plain = page.post("/table", json={"text": text, "label": ""}).json()
    assert (plain["label"], plain["classes"]) == (None, ["all"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\n1\n2\n", "needs two columns of numbers"),
        ("a,b\nx,y\nu,v\n", "needs two columns of numbers"),
        ("a,b,k\n1,2\n3,4,q\n", "line 2: expected 3 columns"),
        ("a,b,k\n", "line 2: expected an example"),
        ("a,b,k\n1,2,\ud800\n3,4,q\n", None),
        ("a,b\n1,2\n3,4\n", None),
        ("a,b,c,k\n1,,3,p\n2,,4,q\n3,,9,p\n", None),
        ("a,b,k\n1e308,-1e308,p\n-1e308,1e308,q\n3,2,p\n", None),
        ("a,b,c,k\n1,1,1,p\n1,1,1,q\n", None),
    ],
)
def test_odd_tables(page, text, said):
    answer = page.post(
        "/table", content=json.dumps({"text": text}), headers={"content-type": "application/json"}
    )
    if said is None:
        points = np.array(answer.json()["points"])
        assert len(points) >= 2
        assert (np.abs(points[:, :2]) <= 0.9).all()
    else:
        assert answer.status_code == 400
        assert said in answer.json()["error"]
        assert "/" not in answer.json()["error"]


def test_a_file_of_the_command_line():
    with TestClient(make_app(parameters_of, "iris"), base_url="http://localhost") as client:
        answer = client.post("/table", json={"file": True}).json()
    assert answer["x"] == "first principal component"
    assert len(answer["classes"]) == 3
    assert "73 % of their variance" in answer["sentence"]


def until_stopped():
    """Work that ends only when it is stopped, and gives the reason."""
    from largemargin.runtime.progress import Watch

    with Watch("a test", None) as watch:
        while not watch.look():
            time.sleep(0.01)
        return watch.stopped


def test_a_newer_request_takes_the_place_of_an_older():
    async def meet():
        lanes, stopped = Lanes(5.0), []

        older = asyncio.ensure_future(lanes.run("a", lambda: stopped.append(until_stopped())))
        await asyncio.sleep(0.05)
        beside = await lanes.run("b", lambda: "beside")
        newer = await lanes.run("a", lambda: "newer")
        with pytest.raises(Problem, match="newer") as problem:
            await older
        lanes.close()
        return beside, newer, problem.value.status, stopped

    assert asyncio.run(meet()) == ("beside", "newer", 409, ["it was no longer wanted"])


def test_whoever_leaves_ends_the_work():
    async def leave():
        lanes, stopped = Lanes(5.0), []

        with pytest.raises(Problem, match="gone"):
            await lanes.run("a", lambda: stopped.append(until_stopped()), asyncio.sleep(0.05))
        assert await lanes.run("a", lambda: "next") == "next"
        lanes.close()
        return stopped

    assert asyncio.run(leave()) == ["it was no longer wanted"]


def test_what_takes_too_long_is_said():
    async def wait():
        lanes = Lanes(0.05)
        with pytest.raises(Problem, match=r"more than 0\.05 seconds"):
            await lanes.run("a", lambda: time.sleep(0.2))
        lanes.close()

    asyncio.run(wait())


@pytest.mark.full
@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_every_machine_answers_everything(page, card, n_classes):
    asked = question(card.name, some_points(n_classes, 50))
    for path in ("fit", "without", "replay", "certificate", "script", "model"):
        answer = page.post(f"/{path}", json={**asked, "index": 0})
        assert answer.status_code == 200, answer.text
    script = page.post("/script", json=asked).json()["script"]
    import matplotlib.pyplot as plt

    with contextlib.redirect_stdout(None), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(script.replace("plt.show()", "plt.close()"), {})
    plt.close("all")


@pytest.mark.full
@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_every_value_of_every_control(page, card):
    """Nothing that a hand can choose ends in anything but a picture or a sentence."""
    (machine,) = [m for m in page.get("/machines").json() if m["name"] == card.name]
    for control in machine["controls"]:
        values = list(control.get("words", [True, False]))
        if control["kind"] == "number":
            values += [control["min"], control["max"]]
        for value in values:
            answer = page.post("/fit", json=question(card.name, **{control["name"]: value}))
            assert answer.status_code in (200, 400), (control, value, answer.text)
            if answer.status_code == 400:
                assert control["name"] in ("nu", "C", "policy", "budget"), answer.text


ODD = [None, True, -1, 1e308, 1e-320, 10**30, "", "inf", "scale", "\ud800", [], {}, [[]]]


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_asked_there_is_an_answer(page, seed):
    """Random questions, some of them odd: a result or a sentence, and never an exception."""
    draw = random.Random(seed)
    machines = page.get("/machines").json()
    paths = ("fit", "without", "replay", "script", "model")
    for _ in range(200):
        machine = draw.choice(machines)
        points = some_points(draw.choice([1, 2, 3, 5]), draw.choice([1, 2, 5, 30]), seed)
        params = {
            control["name"]: draw.choice([*control.get("words", [True]), control["default"], *ODD])
            for control in draw.sample(machine["controls"], 2)
        }
        asked = {**question(machine["name"], points, **params), "index": draw.choice([0, 1, None])}
        if draw.random() < 0.1:
            asked[draw.choice(list(asked))] = draw.choice(ODD)
        answer = page.post(
            f"/{draw.choice(paths)}",
            content=json.dumps(asked),
            headers={"content-type": "application/json"},
        )
        assert answer.status_code in (200, 400), answer.text
        assert answer.status_code == 200 or answer.json()["error"]


@pytest.mark.browser
def test_a_wrong_file_is_told_in_one_line(tmp_path):
    """`largemargin playground FILE` with no such file: exit code 2 and a sentence."""
    command = [sys.executable, "-m", "largemargin", "playground", str(tmp_path / "no.csv")]
    done = subprocess.run([*command, "--no-browser", "--port", "0"], capture_output=True, text=True)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_file_of_the_command_is_read_as_one_that_is_dropped(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("a,b\n1.5,2.5\n3.25,4.5\n3.75,1.5\n")
    for found in (tables.of_file(str(path)), tables.of_text(path.read_text())):
        assert (list(found.columns), found.label) == (["a", "b"], None)
    path.write_text("a,b\nred,round\nblue,square\n")
    with pytest.raises(ValueError, match=r"two\.csv: the table needs two columns of numbers"):
        make_app(parameters_of, str(path))
