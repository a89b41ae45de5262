// The settings: the gateway's address and key. The browser is asked for the permission to
// reach that address in the moment in which somebody names it, and gives it back when they
// are forgotten.
"use strict";

const t = (key, ...args) => chrome.i18n.getMessage(key, args);
const field = (id) => document.getElementById(id);

document.documentElement.lang = t("language");
for (const part of document.querySelectorAll("[data-text]")) part.textContent = t(part.dataset.text);

const say = (text, className) => Object.assign(field("said"), { textContent: text, className });

const problems = {
  unset: () => t("unset"), ungranted: () => t("ungranted"), unreachable: () => t("unreachable"), key: () => t("keyRefused"),
  stranger: () => t("stranger"), over: () => t("stranger"), refused: (detail) => t("refused", detail),
};

const saved = async () => (await chrome.storage.local.get("gateway")).gateway;

const fill = async () => {
  const gateway = await saved();
  field("url").value = gateway?.url ?? "";
  field("key").value = gateway?.key ?? "";
  field("forget").hidden = !gateway;
  field("form").hidden = false; // nothing that somebody types is overwritten
};

const originOf = (url) => `${new URL(url).origin}/*`;

// addressOf reads what somebody has typed: https, or this machine. Elsewhere the key could be
// read on its way.
const addressOf = (typed) => {
  let url;
  try {
    url = new URL(typed.trim());
  } catch {
    return undefined;
  }
  const here = url.hostname === "localhost" || url.hostname === "127.0.0.1";
  if (url.protocol !== "https:" && !(url.protocol === "http:" && here) || url.username || url.password) return undefined;
  return url.origin + url.pathname.replace(/\/+$/, "");
};

// release gives a permission back that nothing needs any more.
const release = async (url) => {
  try {
    await chrome.permissions.remove({ origins: [originOf(url)] });
  } catch {
    // The browser's policy may have granted it; then it stays.
  }
};

field("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const url = addressOf(field("url").value);
  if (!url) return say(t("noAddress"), "bad");
  // First of all: browsers ask only while they remember the click.
  if (!(await chrome.permissions.request({ origins: [originOf(url)] }))) return say(t("ungranted"), "bad");
  const before = await saved();
  await chrome.storage.local.set({ gateway: { url, key: field("key").value.trim() } });
  if (before && originOf(before.url) !== originOf(url)) await release(before.url);
  await fill();
  say(t("checking"), "");
  const answer = await chrome.runtime.sendMessage({ do: "check" });
  if (answer.problem) return say(problems[answer.problem]?.(answer.detail) ?? t("unreachable"), "bad");
  return say(t("works"), "good");
});

field("forget").addEventListener("click", async () => {
  const gateway = await saved();
  await chrome.storage.local.clear();
  if (gateway) await release(gateway.url);
  await fill();
  say(t("forgotten"), "");
});

fill();
