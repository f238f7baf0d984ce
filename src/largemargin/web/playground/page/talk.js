// Asking the server. Each lane has one question at a time: a newer one takes the place of an older.

const client = crypto.getRandomValues(new Uint32Array(2)).join("");
const PATIENCE = 250;  // milliseconds until a question that is being answered gives way

/** The answer to a question, as JSON; an error has the sentence of the server. */
export async function ask(path, content, lane = "", signal = undefined) {
  const question = content === undefined ? { signal } : {
    method: "POST",
    signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...content, lane: `${client} ${lane}` }),
  };
  const response = await fetch(path, question).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Error("The playground does not answer: is its command still running?");
  });
  const kind = response.headers.get("content-type") || "";
  if (!kind.startsWith("application/json")) {
    if (response.ok) return response;
    throw new Error(`The server failed (${response.status}): look at what it printed.`);
  }
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

/** Questions of which only the newest counts, and which do not pile up while a hand moves. */
export class Newest {
  constructor(path, lane) {
    Object.assign(this, { path, lane, running: null, waiting: null });
  }

  /** Ask, and give the answer or the error to `hear`; what is replaced is never heard. */
  ask(content, hear) {
    this.waiting = { content, hear };
    if (!this.running) this.next();
    else if (performance.now() - this.running.since > PATIENCE) this.running.control.abort();
  }

  drop() {
    this.waiting = null;
    if (this.running) {
      this.running.hear = () => {};
      this.running.control.abort();
    }
  }

  async next() {
    if (!this.waiting) return;
    const { content, hear } = this.waiting;
    const running = { control: new AbortController(), since: performance.now(), hear };
    [this.waiting, this.running] = [null, running];
    let answer = null, error = null;
    try {
      answer = await ask(this.path, content, this.lane, running.control.signal);
    } catch (problem) {
      error = problem;
    }
    this.running = null;
    const replaced = running.control.signal.aborted || (error && error.status === 409);
    if (!replaced) running.hear(answer, error, performance.now() - running.since);
    this.next();
  }
}
