// The background of the extension: the only part that knows the gateway and its key. It asks
// the gateway for those that wait, and brings it what was signed. What a gateway answers is
// bounded here, and handed on only where it is of the kind that it should be.
"use strict";

const platform = "https://web.whatsapp.com";
const patience = { read: 15_000, write: 45_000 }; // the gateway waits for the platform up to 30 s
const maxPages = 10; // of instances
const maxShown = 30;
const maxAnswer = 4 << 20; // in characters

// What the platform's page has in its process must not read the key.
chrome.storage.local.setAccessLevel?.({ accessLevel: "TRUSTED_CONTEXTS" });

// Problem is what went wrong, by a name that the panel and the settings have words for.
class Problem extends Error {
  constructor(name, detail = "") {
    super(detail);
    this.name = name;
  }
}

const bounded = (value, length) => (typeof value === "string" ? value.slice(0, length) : "");

// read returns the text of an answer, undefined for one that is too long.
const read = async (response) => {
  let text = "";
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.length > maxAnswer) return undefined; // which ends the transfer
  }
  return text;
};

// ask makes a request to the gateway. A redirect is not followed: the key is for the address
// that somebody has named.
const ask = async (path, body) => {
  const { gateway } = await chrome.storage.local.get("gateway");
  if (!gateway) throw new Problem("unset");
  if (!(await chrome.permissions.contains({ origins: [`${new URL(gateway.url).origin}/*`] }))) throw new Problem("ungranted");
  let response, answer;
  try {
    response = await fetch(gateway.url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { "x-api-key": gateway.key, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(body === undefined ? patience.read : patience.write),
    });
    answer = await read(response);
  } catch {
    throw new Problem("unreachable");
  }
  let content = {};
  try {
    content = answer === undefined ? null : JSON.parse(answer || "{}");
  } catch {
    content = null;
  }
  if (response.status === 401 || response.status === 403) throw new Problem("key");
  if (response.status === 409) throw new Problem("over");
  if (content === null || typeof content !== "object") throw new Problem("stranger");
  if (!response.ok) throw new Problem("refused", bounded(content.message, 500) || `${response.status}`);
  return content;
};

// requestOf takes of a request what a signature needs. Extensions of WebAuthn are left out:
// some give away secrets of the passkey that have nothing to do with linking.
const requestOf = (given) => {
  if (typeof given?.challenge !== "string" || typeof given.rpId !== "string" || !given.challenge || !given.rpId) return undefined;
  const allowed = Array.isArray(given.allowCredentials) ? given.allowCredentials.slice(0, 100) : [];
  return {
    challenge: given.challenge, rpId: given.rpId,
    timeout: Math.min(Math.max(Number(given.timeout) || 60_000, 1000), 600_000),
    userVerification: ["required", "preferred", "discouraged"].includes(given.userVerification) ? given.userVerification : "required",
    allowCredentials: allowed.filter((one) => typeof one?.id === "string").map((one) => ({
      type: "public-key", id: one.id, transports: Array.isArray(one.transports) ? one.transports.filter((way) => typeof way === "string") : undefined,
    })),
  };
};

const states = ["requested", "confirm", "done", "failed"];

// question returns what the panel shows of an instance, undefined for nothing.
const question = async ({ id, name }) => {
  const asked = await ask(`/api/instances/${id}/passkey`);
  if (!states.includes(asked.state)) return undefined;
  const request = requestOf(asked.request);
  if (asked.state === "requested" && !request) return undefined;
  return {
    id, name, state: asked.state, request, expiresAt: Number(asked.expiresAt) || 0,
    code: bounded(asked.code, 16), confirmed: asked.confirmed === true, reason: bounded(asked.reason, 500),
  };
};

const isID = (id) => typeof id === "string" && /^[0-9a-f-]{36}$/.test(id);

// instances lists those that are being linked, and those that somebody here has signed for.
const instances = async (watched) => {
  const found = [];
  for (let page = 1; page <= maxPages; page++) {
    const list = await ask(`/api/instances?limit=100&page=${page}`);
    if (!Array.isArray(list.data)) throw new Problem("stranger");
    for (const one of list.data) {
      if (isID(one?.instanceId) && (one.status === "pending_qr_code_scan" || watched.includes(one.instanceId))) {
        found.push({ id: one.instanceId, name: bounded(one.name, 100) });
      }
    }
    if (list.isLastPage !== false) break;
  }
  return found.slice(0, maxShown);
};

const deeds = {
  // waiting returns the questions that are open, and how those ended that are watched.
  async waiting({ watched }) {
    const mine = Array.isArray(watched) ? watched.filter(isID) : [];
    const shown = await Promise.all((await instances(mine)).map(question));
    return shown.filter((one) => one && (one.state === "requested" || one.state === "confirm" || mine.includes(one.id)));
  },
  async answer({ id, answer }) {
    if (isID(id)) await ask(`/api/instances/${id}/passkey`, answer);
  },
  async confirm({ id }) {
    if (isID(id)) await ask(`/api/instances/${id}/passkey/confirm`, {});
  },
  // check reports whether the gateway takes the key.
  async check() {
    const list = await ask("/api/instances?limit=1");
    if (!Array.isArray(list.data)) throw new Problem("stranger");
  },
  async settings() {
    await chrome.runtime.openOptionsPage();
  },
};

chrome.runtime.onMessage.addListener((message, sender, reply) => {
  const known = sender.id === chrome.runtime.id && (sender.origin === platform || sender.origin === location.origin);
  if (!known || !Object.hasOwn(deeds, message?.do)) return false;
  deeds[message.do](message).then(
    (value) => reply({ value }),
    (failure) => reply({ problem: failure instanceof Problem ? failure.name : "unreachable", detail: failure instanceof Problem ? failure.message : "" }),
  );
  return true; // the reply comes later
});

chrome.action.onClicked.addListener(async (tab) => {
  const { gateway } = await chrome.storage.local.get("gateway");
  if (!gateway) return chrome.runtime.openOptionsPage();
  try {
    await chrome.tabs.sendMessage(tab.id, { do: "open" });
  } catch {
    await chrome.tabs.create({ url: `${platform}/` }); // this tab has another page
  }
  return undefined;
});
