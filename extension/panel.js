// The panel on the platform's page: it lists the instances that wait for a passkey, lets the
// browser sign, and hands what was signed to the background. It never sees the gateway's key,
// and shows what comes from there as text alone.
"use strict";

const pause = 2000;
const t = (key, ...args) => chrome.i18n.getMessage(key, args);

// tell asks the background for something. Its error has the name of a problem.
const tell = async (message) => {
  let answer;
  try {
    answer = await chrome.runtime.sendMessage(message);
  } catch {
    answer = { problem: "reload" }; // the extension was renewed since the page was opened
  }
  if (answer?.problem) throw Object.assign(new Error(answer.detail), { name: answer.problem });
  return answer?.value;
};

// problems has the words for what went wrong.
const problems = {
  unset: () => t("unset"), ungranted: () => t("ungranted"), unreachable: () => t("unreachable"), key: () => t("keyRefused"),
  stranger: () => t("stranger"), over: () => t("over"), reload: () => t("reload"), refused: (failure) => t("refused", failure.message),
  NotAllowedError: () => t("cancelled"), AbortError: () => t("cancelled"), SecurityError: () => t("otherPage"),
};
const explain = (failure) => (Object.hasOwn(problems, failure.name) ? problems[failure.name](failure) : t("notSigned", `${failure.name}`));

const style = `
  :host { all: initial; }
  .panel { position: fixed; z-index: 2147483647; top: 16px; right: 16px; width: min(340px, calc(100vw - 32px)); max-height: calc(100vh - 32px); overflow-y: auto; box-sizing: border-box; padding: 16px; border: 1px solid #8a8d86; border-radius: 12px; background: #fff; color: #1c1f1d; font: 14px/1.5 system-ui, sans-serif; box-shadow: 0 8px 24px rgb(20 24 22 / 20%); overflow-wrap: anywhere; }
  .panel[hidden], [hidden] { display: none; }
  .head { display: flex; align-items: center; gap: 8px; }
  h2 { margin: 0 auto 0 0; font-size: 16px; line-height: 1.4; }
  p { margin: 8px 0 0; }
  ul { list-style: none; margin: 0; padding: 0; }
  li { margin-top: 12px; padding-top: 12px; border-top: 1px solid #e2e2dd; }
  .code { font: 600 24px/1.3 ui-monospace, monospace; letter-spacing: 0.12em; }
  .number { font-variant-numeric: tabular-nums; }
  .bad { color: #b3261e; }
  .good { color: #17703f; }
  button { font: inherit; font-weight: 550; cursor: pointer; min-height: 36px; padding: 0 12px; margin-top: 8px; border: 1px solid #8a8d86; border-radius: 8px; background: #fff; color: #1c1f1d; }
  button.first { background: #0b6b57; border-color: #0b6b57; color: #fff; }
  button:disabled { opacity: 0.55; cursor: not-allowed; }
  .head button { margin: 0; border: 0; font-weight: 400; color: inherit; }
  :focus-visible { outline: 2px solid #0b6b57; outline-offset: 2px; }
  @media (prefers-color-scheme: dark) {
    .panel, button { background: #1a1d1b; color: #e8ebe9; }
    li { border-color: #303532; }
    .bad { color: #f2938b; }
    .good { color: #6bcb92; }
    button.first { background: #5fc9ab; border-color: #5fc9ab; color: #06251c; }
  }
`;

// element makes an element with text and children. Nothing becomes HTML.
const element = (tag, properties, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

// pressed makes a button for people: what a script of the page clicks is not heard.
const pressed = (text, className, act) => {
  const button = element("button", { type: "button", className, textContent: text });
  button.addEventListener("click", (event) => event.isTrusted && act(button));
  return button;
};

const list = element("ul", {});
const note = element("p", { role: "status" });
const closing = pressed("×", "", () => closePanel());
closing.setAttribute("aria-label", t("close"));
const settings = pressed(t("settings"), "", () => tell({ do: "settings" }).catch(() => {}));
const panel = element("section", { className: "panel", hidden: true, tabIndex: -1 },
  element("div", { className: "head" }, element("h2", { textContent: t("title") }), settings, closing), note, list);
panel.setAttribute("role", "dialog");
panel.setAttribute("aria-label", t("title"));
panel.lang = t("language");
const host = element("div", {});
// Closed, so that the page's scripts can neither read nor press what is in it.
const shadow = host.attachShadow({ mode: "closed" });
const sheet = new CSSStyleSheet();
sheet.replaceSync(style);
shadow.adoptedStyleSheets = [sheet];
shadow.append(panel);

const cards = new Map(); // by the instance's id: what is shown of it
const watched = new Set(); // the instances that were signed for here
let timer, countdown;

// mayHere reports whether this page may sign for a name (section 5.1.3 of WebAuthn).
const mayHere = (name) => location.hostname === name || location.hostname.endsWith(`.${name}`);

const left = (expiresAt) => {
  const seconds = Math.max(0, Math.round((expiresAt - Date.now()) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};

// sign lets the browser sign, and hands on what the platform needs of it.
const sign = async ({ id, request }) => {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(request);
  const signed = (await navigator.credentials.get({ publicKey })).toJSON();
  const { clientDataJSON, authenticatorData, signature, userHandle } = signed.response;
  const response = { clientDataJSON, authenticatorData, signature, ...(userHandle ? { userHandle } : {}) };
  watched.add(id);
  await tell({ do: "answer", id, answer: { id: signed.id, rawId: signed.rawId, type: signed.type, response } });
};

// attempt does what a button is for, and says in the card what came of it.
const attempt = async (card, button, act, done) => {
  const say = (text, className) => Object.assign(card.said, { textContent: text, className, hidden: !text });
  say("", "");
  button.disabled = true;
  card.busy = true;
  try {
    await act();
    say(done, "");
    button.hidden = true;
  } catch (failure) {
    say(explain(failure), "bad");
    button.disabled = false;
  } finally {
    card.busy = false;
    refresh();
  }
};

// show fills a card with what its instance's question is now.
const show = (card, one) => {
  const parts = [element("b", { textContent: one.name || one.id })];
  const add = (text, className = "") => parts.push(element("p", { textContent: text, className }));
  card.until = undefined;
  if (one.state === "requested" && !mayHere(one.request.rpId)) {
    add(t("otherPage"), "bad");
  } else if (one.state === "requested") {
    card.until = element("span", { className: "number", textContent: left(one.expiresAt) });
    parts.push(element("p", {}, `${t("asks")} `, card.until));
    parts.push(pressed(t("sign"), "first", (button) => attempt(card, button, () => sign(one), t("signed"))));
  } else if (one.state === "confirm") {
    add(t(one.confirmed ? "confirmed" : "compare"));
    add(one.code, "code");
    if (!one.confirmed) parts.push(pressed(t("same"), "first", (button) => attempt(card, button, () => tell({ do: "confirm", id: one.id }), "")));
  } else if (one.state === "done") {
    add(t("linked"), "good");
  } else {
    add(t("notLinked", one.reason), "bad");
  }
  card.said = element("p", { role: "alert", hidden: true });
  card.item.replaceChildren(...parts, card.said);
};

// render brings the cards to what the gateway says, and leaves those alone that have not
// changed, or in which the browser is asking.
const render = (questions) => {
  for (const [id, card] of cards) {
    if (card.busy || questions.some((one) => one.id === id)) continue;
    card.item.remove();
    cards.delete(id);
  }
  for (const one of questions) {
    let card = cards.get(one.id);
    if (!card) {
      card = { item: element("li", {}) };
      cards.set(one.id, card);
      list.append(card.item);
    }
    card.expiresAt = one.expiresAt;
    const is = JSON.stringify(one);
    if (card.busy || card.is === is) continue;
    card.is = is;
    show(card, one);
  }
  note.className = "";
  note.textContent = cards.size ? "" : t("nothing");
};

// refresh asks anew while the panel is open, and tells whether anything waits.
const refresh = async () => {
  clearTimeout(timer);
  try {
    render(await tell({ do: "waiting", watched: [...watched] }));
  } catch (failure) {
    note.className = "bad";
    note.textContent = explain(failure);
  }
  note.hidden = !note.textContent;
  if (!panel.hidden && !document.hidden) timer = setTimeout(refresh, pause);
  return cards.size > 0;
};

const openPanel = () => {
  if (!host.isConnected) document.documentElement.append(host);
  panel.hidden = false;
  clearInterval(countdown);
  countdown = setInterval(() => {
    for (const card of cards.values()) if (card.until) card.until.textContent = left(card.expiresAt);
  }, 500);
  refresh();
};

function closePanel() {
  panel.hidden = true;
  clearTimeout(timer);
  clearInterval(countdown);
}

panel.addEventListener("keydown", (event) => event.key === "Escape" && closePanel());
chrome.runtime.onMessage.addListener((message) => {
  if (message?.do !== "open") return;
  openPanel();
  panel.focus();
});

// Whoever opens the page, or comes back to it, finds the panel if somebody waits. Nothing else
// asks the gateway by itself.
const look = async () => {
  if (document.hidden || !panel.hidden) return !document.hidden && refresh();
  return (await refresh()) && openPanel();
};
document.addEventListener("visibilitychange", look);
look();
