// What readers are told when there is no answer: why, how long to wait, and when to go on.
import { element } from "./markdown.js";

const FIRST_TRY = 5; // seconds until we look whether the server is back; doubled up to a minute

/** A notice with a countdown. While it counts down a limit, nothing can be asked. */
export class Patience {
  /** @param {() => void} changed called whenever asking becomes possible or impossible */
  constructor(changed) {
    this.changed = changed;
    this.notice = element("p", { class: "notice", hidden: true });
    this.forbidsAsking = false;
    this.goOn = () => this.look();
  }

  /** @param {{kind: string, message: string, wait: number | null}} reason @param {string} health */
  begin(reason, health) {
    this.end();
    this.reason = reason;
    this.health = health;
    this.pause = FIRST_TRY;
    this.forbidsAsking = reason.kind === "limit" || (reason.kind === "busy" && reason.wait !== null);
    this.notice.hidden = false;
    this.notice.className = `notice ${reason.kind}`;
    if (this.forbidsAsking) this.countDown(reason.wait, () => this.end());
    else if (reason.kind === "offline") this.countDown(this.pause, this.goOn);
    else this.tell(null);
    if (reason.kind === "offline") window.addEventListener("online", this.goOn);
    this.changed();
  }

  end() {
    clearInterval(this.timer);
    window.removeEventListener("online", this.goOn);
    this.reason = null;
    this.notice.hidden = true;
    this.forbidsAsking = false;
    this.changed();
  }

  countDown(seconds, then) {
    clearInterval(this.timer);
    const until = Date.now() + seconds * 1000; // a laptop that slept has waited, too
    const tick = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      if (left > 0) return this.tell(left);
      clearInterval(this.timer);
      then();
    };
    this.timer = setInterval(tick, 1000);
    tick();
  }

  tell(left) {
    const { kind, message } = this.reason;
    const what = { limit: "You have asked all your questions for now.", busy: `The book cannot answer just now. ${message}` }[kind] ?? message;
    const when = left === null ? " You can ask again." : kind === "offline" ? ` Trying again in ${inWords(left)}.` : ` You can ask again in ${inWords(left)}.`;
    this.notice.textContent = what + when;
  }

  /** Is the server back? */
  async look() {
    const reason = this.reason;
    const isBack = await fetch(this.health, { cache: "no-store" }).then((response) => response.ok, () => false);
    if (this.reason !== reason) return; // something else happened meanwhile
    if (isBack) return this.end();
    this.pause = Math.min(this.pause * 2, 60);
    this.countDown(this.pause, this.goOn);
  }
}

/** Seconds as people say them. */
export function inWords(seconds) {
  if (seconds < 60) return seconds === 1 ? "1 second" : `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}
