// Votes reach the server once, however often they are sent: they stay in the browser until it has answered. The browser keeps each
// rater's vote apart, so that the next rater in the same browser neither sends nor replaces it.
export class Sender {
  constructor({ arena, rater, token }, say) {
    this.arena = arena;
    this.rater = rater;
    this.token = token;
    this.say = say;
    this.place = `multiduel unsent ${arena} ${rater}`;
    addEventListener("online", () => this.hurry?.());
  }

  get unsent() {
    try { return JSON.parse(localStorage.getItem(this.place)); } catch { return null; }
  }

  keep(what) {
    try {
      if (what) localStorage.setItem(this.place, JSON.stringify(what)); else localStorage.removeItem(this.place);
    } catch { /* a browser that keeps nothing: it is still sent from here */ }
  }

  // `what`: {path, body}. Sent until the server says something about it.
  async send(what) {
    if (what.body) this.keep(what);
    for (let wait = 1; ; wait = Math.min(2 * wait, 15)) {
      const answer = await this.once(what.path, what.body);
      if (answer) {
        if (answer.status !== 401) this.keep(null); // 401: this rater is signed out. Their page sends it when it is open again
        this.say("");
        return answer;
      }
      this.say("No answer yet. Your vote is kept in this browser and is sent again.");
      await new Promise((done) => {
        this.hurry = done;
        setTimeout(done, wait * 1000);
      });
    }
  }

  // An answer, or null if there was none that says what became of it.
  async once(path, body) {
    const give_up = new AbortController();
    const late = setTimeout(() => give_up.abort(), 20000);
    try {
      const method = body === undefined ? "GET" : "POST";
      const answer = await fetch(`/vote/${this.arena}/${path}`, {
        method,
        headers: { Accept: "application/json", "Content-Type": "application/json", "X-Token": this.token, "X-Rater": this.rater },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: give_up.signal,
      });
      if (answer.status >= 500 || answer.status === 429) return null;
      return { status: answer.status, ...(await answer.json()) };
    } catch {
      return null;
    } finally {
      clearTimeout(late);
    }
  }
}

export const newRequest = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");
