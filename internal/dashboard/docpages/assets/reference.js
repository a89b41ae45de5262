// What the pages of the API's reference and of the guide do in the browser: remember the language of the samples, filter the
// list, and send a request to this gateway. The key stays in this tab.
"use strict";
(() => {
  // A browser may forbid a page to keep anything; then nothing is remembered.
  const kept = (store, name) => { try { return window[store].getItem(name); } catch { return null; } };
  const keep = (store, name, value) => { try { window[store].setItem(name, value); } catch { /* as above */ } };

  const languages = [...document.querySelectorAll(".languages input")];
  for (const language of languages) {
    if (language.value === kept("localStorage", "recado-language")) language.checked = true;
    language.addEventListener("change", () => keep("localStorage", "recado-language", language.value));
  }

  const filter = document.getElementById("filter");
  if (filter) {
    const entries = [...document.querySelectorAll("[data-words]")].map((entry) => ({ entry, text: `${entry.textContent} ${entry.dataset.words}`.toLowerCase() }));
    const narrow = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = 0;
      for (const { entry, text } of entries) {
        entry.hidden = !words.every((word) => text.includes(word));
        found += !entry.hidden;
      }
      for (const group of document.querySelectorAll(".api-group")) group.hidden = !group.querySelector("[data-words]:not([hidden])");
      document.getElementById("api-nothing").hidden = found > 0;
    };
    filter.closest("#api-filter").hidden = false;
    filter.addEventListener("input", narrow);
    narrow();
    // Everything was on this page once: who follows an old link goes on to where it is now.
    let old;
    try { old = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { /* no part of a page is called so */ }
    if (old?.matches("[data-words]")) location.replace(old.querySelector("a").href);
  }

  const tried = document.getElementById("try");
  if (!tried) return;
  tried.hidden = false;
  const form = document.getElementById("try-form");
  const texts = document.getElementById("try-texts").dataset;
  const part = (name) => document.getElementById(`try-${name}`);
  const parameters = [...form.querySelectorAll("[data-parameter]")];
  const body = part("body");

  // The key, which samples show as well. No key has other letters: one that has is not written into code.
  const keyMark = "YOUR_API_KEY";
  const keyField = () => part("key");
  const showKey = () => {
    const key = keyField()?.value.trim() ?? "";
    for (const place of document.querySelectorAll("[data-key]")) place.textContent = /^[\w-]{8,}$/.test(key) ? key : keyMark;
  };
  const keepKey = () => {
    keep("sessionStorage", "recado-key", keyField().value.trim());
    showKey();
  };
  if (keyField()) {
    keyField().value = kept("sessionStorage", "recado-key") ?? "";
    form.addEventListener("input", (event) => { if (event.target === keyField()) keepKey(); });
    document.addEventListener("htmx:afterSettle", (event) => { if (event.detail.target?.id === "try-key" || event.target.id === "try-key") keepKey(); });
  }
  showKey();

  // The samples follow the form.
  const instances = form.querySelector("[data-instances]");
  const chosen = kept("localStorage", "recado-instance");
  const refresh = () => htmx.trigger("#samples", "changed");
  document.addEventListener("htmx:afterSwap", showKey);
  if (instances) {
    instances.addEventListener("change", () => keep("localStorage", "recado-instance", instances.value));
    if (chosen !== instances.value && [...instances.options].some((option) => option.value === chosen)) {
      instances.value = chosen;
      addEventListener("load", refresh); // htmx is ready then
    }
  }
  let soon;
  form.addEventListener("input", (event) => {
    if (event.target === keyField()) return;
    clearTimeout(soon);
    soon = setTimeout(refresh, 250);
  });

  const address = () => {
    let path = tried.dataset.path;
    const query = new URLSearchParams();
    const headers = {};
    for (const field of parameters) {
      const name = field.dataset.parameter;
      if (field.dataset.where === "path") path = path.replace(`{${name}}`, () => encodeURIComponent(field.value));
      else if (field.value === "") continue;
      else if (field.dataset.where === "query") query.set(name, field.value);
      else headers[name] = field.value;
    }
    return { path: query.size ? `${path}?${query}` : path, headers };
  };

  const told = ["content-type", "x-request-id", "retry-after", "idempotency-replayed", "preference-applied", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "location", "allow"];
  const maxShown = 200_000;
  const pretty = (text) => { try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; } };
  const show = (text) => { part("text").textContent = text.length > maxShown ? `${text.slice(0, maxShown)}\n${texts.cut}` : text; };

  // read shows the body as it comes: that of a stream never ends.
  const read = async (response) => {
    const kind = response.headers.get("content-type") ?? "";
    if (response.ok && kind && !/^(application\/json|text\/)/.test(kind)) {
      const file = await response.blob();
      part("file").href = URL.createObjectURL(file);
      part("file").download = /filename="?([^";]+)/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "file";
      part("file").hidden = false;
      show(kind);
      return file.size;
    }
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let more = reader && await reader.read(); more && !more.done; more = await reader.read()) {
      text += more.value;
      show(text);
    }
    show(text ? pretty(text) : texts.none);
    return new Blob([text]).size;
  };

  let sending;
  const send = async () => {
    const { path, headers } = address();
    if (keyField()?.value.trim()) headers["x-api-key"] = keyField().value.trim();
    if (body?.value.trim()) headers["content-type"] = "application/json";
    const abort = sending = new AbortController();
    const began = performance.now();
    part("stop").hidden = false;
    part("send").disabled = true;
    part("file").hidden = true;
    if (part("file").href) URL.revokeObjectURL(part("file").href);
    part("headers").replaceChildren();
    show("");
    const status = (text, look) => {
      part("status").textContent = text;
      part("status").className = `tag ${look}`;
      part("answer").hidden = false;
    };
    part("took").textContent = "";
    try {
      const response = await fetch(path, { method: tried.dataset.method, headers, body: body?.value.trim() || undefined, signal: abort.signal, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" });
      status(`${response.status} ${response.statusText}`, response.ok ? "good" : "bad");
      part("took").textContent = `${Math.round(performance.now() - began)} ms`;
      for (const name of told) {
        if (!response.headers.has(name)) continue;
        const term = Object.assign(document.createElement("dt"), { textContent: name });
        part("headers").append(term, Object.assign(document.createElement("dd"), { textContent: response.headers.get(name) }));
      }
      const size = await read(response);
      part("took").textContent += ` · ${size} B`;
    } catch (error) {
      if (error.name !== "AbortError") status(error instanceof TypeError && !part("took").textContent ? texts.unreachable : String(error.message), "bad");
      else if (part("took").textContent) part("took").textContent += ` · ${texts.stopped}`;
      else status(texts.stopped, "");
    } finally {
      part("stop").hidden = true;
      part("send").disabled = false;
    }
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const needs = tried.dataset.needs;
    if (needs === "a-word" || (needs === "another-body" && body && body.value === body.defaultValue)) part("ask").showModal();
    else send();
  });
  part("sure").addEventListener("click", send);
  part("stop").addEventListener("click", () => sending?.abort());
})();
