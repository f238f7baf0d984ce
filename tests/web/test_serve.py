"""A real server process and a real client: the protocol, rows as people send them, and limits."""

import gzip
import json
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest

from largemargin import SVC, load, save

from .conftest import SHOTS, serving

pytestmark = pytest.mark.browser


def test_the_protocol(server, folder, rows):
    get, model = server.client.get, load(folder / "iris.safetensors")
    assert get("/v2").json()["name"] == "largemargin"
    for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/iris/ready"):
        assert get(path).status_code == 200
    told = get("/v2/models/iris").json()
    assert told["inputs"] == [{"name": "X", "datatype": "FP64", "shape": [-1, 4]}]
    tensor = {"name": "X", "shape": [3, 4], "datatype": "FP64", "data": rows[:3].ravel().tolist()}
    answer = server.client.post(
        "/v2/models/iris/infer", json={"id": "a", "inputs": [tensor]}
    ).json()
    assert (answer["id"], answer["model_name"]) == ("a", "iris")
    label, decision = answer["outputs"]
    assert label["data"] == model.predict(rows[:3]).tolist()
    found = np.reshape(decision["data"], decision["shape"])
    np.testing.assert_allclose(found, model.decision_function(rows[:3]), rtol=1e-12, atol=1e-12)
    # one tensor for each column, in any order, and only one of the outputs
    names = model.feature_names_in_.tolist()
    tensors = [
        {"name": name, "shape": [3, 1], "datatype": "FP32", "data": rows[:3, k, None].tolist()}
        for k, name in reversed(list(enumerate(names)))
    ]
    request = {"inputs": tensors, "outputs": [{"name": "label"}]}
    answer = server.client.post("/v2/models/iris/infer", json=request).json()
    assert [output["name"] for output in answer["outputs"]] == ["label"]
    assert answer["outputs"][0]["data"] == label["data"]


def test_rows_as_people_send_them(server, folder, rows):
    model, post = load(folder / "iris.safetensors"), server.client.post
    expected = model.predict(rows[:40]).tolist()
    names = model.feature_names_in_.tolist()
    lists, objects = rows[:40].tolist(), [dict(zip(names, row, strict=True)) for row in rows[:40]]
    header = ",".join(names)
    text = "\n".join([header, *(",".join(map(str, row)) for row in lists)])
    bare = "\n".join(",".join(map(str, row)) for row in lists)
    csv = {"content-type": "text/csv; charset=utf-8"}
    for answer in (
        post("/predict/iris", json=lists), post("/predict/iris", json=objects),
        post("/predict/iris", json={"rows": lists}),
        post("/predict/iris", content=text, headers=csv),
        post("/predict/iris", content=bare, headers=csv),
    ):  # fmt: skip
        assert answer.json()["labels"] == expected, answer.text
    answer = post("/predict/iris?decision=true&nearest=2", json=lists[:1]).json()
    np.testing.assert_allclose(answer["decision"], model.decision_function(rows[:1]), rtol=1e-12)
    nearest = answer["nearest"][0]
    distances = np.linalg.norm(model.support_vectors_ - rows[0], axis=1)
    assert [one["position"] for one in nearest] == model.support_[
        np.argsort(distances, kind="stable")[:2]
    ].tolist()


REFUSED = [
    ("/predict/nothing", "[[1,2,3,4]]", 404, "the models are iris, mira"),
    ("/predict/iris", "[[1,2,3]]", 400, "row 0 has 3 values, and the model iris takes 4"),
    ("/predict/iris", "[]", 400, "there are no rows"),
    ("/predict/iris", "[[1,2,3,NaN]]", 400, "NaN is not a number that JSON has"),
    ("/predict/iris", "[[1,2,3,1e999]]", 400, "send finite numbers"),
    ("/predict/iris", '[[1,2,3,"a"]]', 400, 'row 0 has "a" in the column "petal width (cm)"'),
    ("/predict/iris", '[{"a":1}]', 400, 'the columns "a" are not known'),
    ("/predict/iris", "[[1,2,3,4]", 400, "the request is not JSON"),
    ("/predict/iris", "[" * 50_000, 400, "nested too deeply"),
    ("/predict/iris", '{"x": 1}', 400, 'has no "rows"'),
    ("/predict/iris?nearest=-1", "[[1,2,3,4]]", 400, "from 0 to 100"),
    ("/predict/mira?nearest=x", "[[1,2,3,4]]", 400, "from 0 to 100"),
    ("/predict/iris", json.dumps([[1, 2, 3, 4]] * 51), 413, "51 rows are more than 50"),
    ("/predict/iris", "[" + " " * 200_000 + "]", 413, "larger than 100000 bytes"),
    ("/learn/mira", '{"x":[1,2,3,4],"y":1}', 403, "start the server with --learn"),
    ("/v2/models/iris/infer", "{}", 400, '"inputs"'),
    ("/v2/models/iris/infer", '{"inputs":[{"name":"X","shape":[2,4],"datatype":"FP64",'
     '"data":[1]}]}', 400, "has 1 values, and its shape is [2, 4]"),
    ("/v2/models/iris/infer", '{"inputs":[{"name":"X","shape":[1,4],"datatype":"FP8",'
     '"data":[1]}]}', 400, "use one of BOOL"),
    ("/v2/models/iris/infer", '{"inputs":[{"name":"X","shape":[1,4],"datatype":[],"data":[1]}]}',
     400, "use one of BOOL"),
    ("/v2/models/iris/infer", '{"inputs":[{"name":"X","shape":[1' + 400 * "0" + '],"datatype":'
     '"FP64","data":[1]}]}', 400, "must be a list of whole numbers"),
    ("/v2/models/iris/infer", '{"inputs":[{"name":"X","shape":[1,4],"datatype":"INT8",'
     '"data":[1,2,3,4.5]}]}', 400, "not a value of INT8"),
    ("/v2/models/iris/infer", '{"inputs":[{"name":"X","shape":[1,4],"datatype":"UINT8",'
     '"data":[-1,2,3,4]}]}', 400, "does not fit UINT8"),
    ("/v2/models/iris/infer", '{"inputs":[{"name":"X","shape":[1,4],"datatype":"BOOL",'
     '"data":[true,false,1,0]}],"outputs":[{"name":{}}]}', 400, "use label, decision"),
    ("/predict/iris", '{"rows":[[1,2,3,4]],"nearest":1e999}', 400, "from 0 to 100"),
    ("/predict/iris?decision=perhaps", "[[1,2,3,4]]", 400, "true or false"),
    ("/predict/iris?nearest=1", "[[1e308,-1e308,1e308,1e308]]", 400, "scale the data"),
    ("/nowhere", "", 404, "/openapi.json"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "status", "sentence"), REFUSED)
def test_what_is_refused(server, path, body, status, sentence):
    answer = server.client.post(path, content=body)
    assert answer.status_code == status
    assert sentence in answer.json()["error"]


def test_bodies_that_are_not_plain(server):
    body = gzip.compress(b"[[1, 2, 3, 4]]")
    answer = server.client.post("/predict/iris", content=body, headers={"content-encoding": "gzip"})
    assert answer.status_code == 415
    assert "the body is encoded as 'gzip': send it as it is" in answer.json()["error"]
    head = b'{"inputs":[{"name":"X","shape":[1,4],"datatype":"FP64","parameters":' + (
        b'{"binary_data_size":32}}]}'
    )
    answer = server.client.post(
        "/v2/models/iris/infer",
        content=head + np.ones(4).tobytes(),
        headers={"inference-header-content-length": str(len(head))},
    )
    assert answer.status_code == 400
    assert "tensors in binary are not taken here" in answer.json()["error"]


def test_a_cell_that_only_python_calls_a_number(server):
    kind = {"content-type": "text/csv"}
    answer = server.client.post("/predict/iris", content="1_0,3.5,1.4,0.2\n", headers=kind)
    assert answer.status_code == 400
    assert 'row 0 has "1_0"' in answer.json()["error"]


def test_a_foreign_host_and_a_wrong_method(server):
    answer = server.client.get("/v2", headers={"host": "evil.example"})
    assert answer.status_code == 421
    assert server.client.get("/predict/iris").status_code == 405


def test_it_describes_itself(server):
    paths = server.client.get("/openapi.json").json()["paths"]
    assert {"/v2/models/{name}/infer", "/predict/{name}", "/learn/{name}"} <= set(paths)
    page = server.client.get("/")
    assert "iris" in page.text
    assert "http" not in page.text.replace("http-equiv", "")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    text = server.client.get("/metrics").text
    assert 'largemargin_requests_total{route="/openapi.json",status="200"}' in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_its_page_in_a_browser(server, browser, serious, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, troubles = context.new_page(), []
    page.on("console", lambda m: m.type == "error" and troubles.append(m.text))
    page.on("request", lambda r: r.url.startswith((server.base, "data:")) or troubles.append(r.url))
    page.goto(server.base)
    for summary in page.locator("summary").all():
        summary.click()
    assert page.locator(".route").count() == len(server.client.get("/openapi.json").json()["paths"])
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not serious(page)
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/serve-{scheme}-{width}.png", full_page=True)
    context.close()
    assert not troubles


def test_a_token_is_needed_for_other_hosts(folder):
    command = [sys.executable, "-m", "largemargin", "serve", "iris.safetensors"]
    done = subprocess.run(
        [*command, "--host", "0.0.0.0"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "give a --token" in done.stderr
    done = subprocess.run([*command, "--learn", "iris"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2
    assert "does not learn from a stream" in done.stderr
    done = subprocess.run(
        [*command, "mira.safetensors", "--learn", "mira", "--workers", "2"], cwd=folder,
        capture_output=True, text=True,
    )  # fmt: skip
    assert "--learn needs one process" in done.stderr
    done = subprocess.run([*command, "--port", "99999"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: --port must be a number from 0 to 65535, got 99999\n"
    done = subprocess.run(
        [*command, "--max-seconds", "nan"], cwd=folder, capture_output=True, text=True
    )
    assert done.stderr == "error: --max-seconds must be larger than 0, got nan\n"
    with serving("iris.safetensors", cwd=folder, env={"LARGEMARGIN_TOKEN": "s3cret"}) as server:
        assert server.client.get("/v2/health/live").status_code == 200
        assert server.client.get("/v2").status_code == 401
        for token, status in (("wrong", 401), ("s3cret", 200)):
            headers = {"authorization": f"Bearer {token}"}
            assert server.client.get("/v2", headers=headers).status_code == status


def test_many_at_once_are_answered_together(server, folder, rows):
    expected = load(folder / "iris.safetensors").predict(rows).tolist()

    def ask(k):
        return server.client.post("/predict/iris", json=[rows[k].tolist()]).json()["labels"][0]

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, range(150))) == expected


def test_requests_in_flight_have_a_limit(folder):
    with serving("iris.safetensors", "--max-in-flight", 1, cwd=folder) as server:
        address = ("127.0.0.1", server.port)
        with socket.create_connection(address) as slow:
            slow.sendall(
                b"POST /predict/iris HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n[[1"
            )
            time.sleep(0.3)
            answer = server.client.post("/predict/iris", json=[[1, 2, 3, 4]])
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            for path in ("/v2/health/live", "/v2/health/ready"):
                assert server.client.get(path).status_code == 200


def test_a_head_that_comes_letter_by_letter(folder):
    """Neither the first of a connection nor a later one holds it open."""
    with serving("iris.safetensors", cwd=folder) as server:
        address = ("127.0.0.1", server.port)
        with socket.create_connection(address) as first, socket.create_connection(address) as later:
            later.sendall(b"GET /v2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b" 200 " in later.recv(5000)
            both = [first, later]
            began = time.monotonic()
            while both and time.monotonic() - began < 20:
                time.sleep(1)
                for one in both[:]:
                    try:
                        one.sendall(b"a")
                        one.settimeout(0.1)
                        ended = one.recv(100) == b""
                    except TimeoutError:
                        ended = False
                    except ConnectionError:
                        ended = True
                    both.remove(one) if ended else None
            assert not both


def test_a_slow_and_a_half_closed_connection(folder):
    with serving("iris.safetensors", "--max-seconds", 1, cwd=folder) as server:
        address = ("127.0.0.1", server.port)
        with socket.create_connection(address) as slow:
            slow.sendall(
                b"POST /predict/iris HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\n["
            )
            slow.settimeout(20)
            assert b" 503 " in slow.recv(1000)
        for sent in (b"", b"GET /v2 HT", b"POST /predict/iris HTTP/1.1\r\nHost: a", b"\0" * 5000):
            with socket.create_connection(address) as half:
                half.sendall(sent)
                half.shutdown(socket.SHUT_WR)
                half.settimeout(20)
                half.recv(1000)
        assert server.client.get("/v2/health/live").status_code == 200


def test_a_changed_file_is_loaded_when_it_is_whole(folder, tmp_path, rows):
    path = tmp_path / "a.safetensors"
    shutil.copy(folder / "iris.safetensors", path)
    other = SVC().fit(rows, ["never", *["always"] * 149])
    with serving(path, "--reload", cwd=tmp_path) as server:

        def label():
            return server.client.post("/predict/a", json=[rows[0].tolist()]).json()["labels"][0]

        assert label() == "setosa"
        path.write_bytes(path.read_bytes()[:1000])
        time.sleep(2.5)
        assert label() == "setosa"
        save(other, path)
        for _ in range(100):
            if label() != "setosa":
                break
            time.sleep(0.1)
        assert label() in ("always", "never")


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_finishes_what_is_in_flight(folder, workers):
    with serving("iris.safetensors", "--workers", workers, cwd=folder) as server:
        body = json.dumps([[1, 2, 3, 4]] * 5000).encode()
        head = (
            f"POST /predict/iris HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as asking:
            asking.sendall(head.encode() + body[:1000])
            time.sleep(0.5)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            asking.sendall(body[1000:])
            with asking.makefile("rb") as reading:
                answer = reading.read().partition(b"\r\n\r\n")[2]
        assert server.process.wait(60) in (0, -signal.SIGTERM)
    assert len(json.loads(answer)["labels"]) == 5000


@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_is_wrong_with_a_model_is_told_in_one_line(folder, tmp_path, workers):
    (tmp_path / "cut.safetensors").write_bytes((folder / "iris.safetensors").read_bytes()[:1000])
    command = [sys.executable, "-m", "largemargin", "serve", ".", "--port", "0"]
    done = subprocess.run(
        [*command, "--workers", workers], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: cut.safetensors is not a whole model file: give a file that largemargin saved"
    ]


def test_several_processes_share_the_port(folder, rows):
    with serving("iris.safetensors", "--workers", 2, cwd=folder) as server:
        for _ in range(20):
            answer = httpx.post(f"{server.base}/predict/iris", json=[rows[0].tolist()], timeout=60)
            assert answer.json()["labels"] == ["setosa"]


def _noise(choice):
    """A request that may be anything."""
    path = choice.choice(
        ["/predict/iris", "/v2/models/iris/infer", "/v2/models/%00/infer", "/predict/../x", "/v2",
         "/learn/mira", "/predict/iris?nearest=9", "/metrics", "/predict/iris%0d%0aX: y", "/%ff"]
    )  # fmt: skip
    whole = choice.choice(
        [b"[[1,2,3,4]]", b'{"rows":[[1,2,3,4]]}', b'[{"a":null}]', b'{"inputs":[{"name":"X",'
         b'"shape":[1,4],"datatype":"FP64","data":[1,2,3,4]}]}', b"a,b\n1,2\n", b"", b"\xff\xfe"]
    )  # fmt: skip
    body = bytearray(whole)
    for _ in range(choice.randrange(4)):
        place = choice.randrange(len(body) + 1)
        if choice.random() < 0.5 and body:
            body[place % len(body)] = choice.randrange(256)
        else:
            body[place:place] = choice.choice(
                [b"[", b"}", b'"', b"1e400", b"null", b"\\u0000", b"-"]
            )
    kind = choice.choice(["application/json", "text/csv", "", "x/" + "y" * 50])
    return choice.choice(["GET", "POST", "PUT", "DELETE"]), path, bytes(body), kind


def test_ten_thousand_requests_of_noise(server):
    choice = random.Random(0)
    for _ in range(10_000):
        method, path, body, kind = _noise(choice)
        answer = server.client.request(
            method, path, content=body, headers={"content-type": kind} if kind else {}
        )
        assert answer.status_code < 500, (method, path, body, answer.text)
    assert server.process.poll() is None
