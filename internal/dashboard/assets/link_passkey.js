// The account's passkey, on the page of an instance that is being linked: where the browser
// may sign for its name on this page, a button does it and brings the answer back.
"use strict";
(() => {
  // A page signs for its own name and for those above it (section 5.1.3 of WebAuthn).
  const mayHere = (name) => window.isSecureContext && window.PublicKeyCredential?.parseRequestOptionsFromJSON !== undefined &&
    (location.hostname === name || location.hostname.endsWith(`.${name}`));

  const running = new Map(); // the questions that the browser asks right now, with what ends them

  const offer = () => {
    for (const box of document.querySelectorAll("[data-signing]:not([data-offered])")) {
      box.dataset.offered = "yes";
      if (!mayHere(box.dataset.signsFor)) continue;
      box.querySelector("[data-here]").hidden = false;
      box.querySelector("[data-elsewhere]").open = false;
    }
    for (const [box, controller] of running) if (!box.isConnected) controller.abort();
  };

  const say = (box, text) => {
    const problem = box.querySelector("[data-problem]");
    problem.querySelector("div").textContent = text;
    problem.hidden = !text;
  };

  const send = async (box, credential) => {
    let response;
    try {
      response = await fetch(box.dataset.answer, {
        method: "POST", headers: { "HX-Request": "true" }, body: new URLSearchParams({ answer: JSON.stringify(credential.toJSON()) }),
      });
    } catch {
      return say(box, box.querySelector("[data-problem]").dataset.unreachable);
    }
    if (response.status === 401) return location.reload();
    if (!response.ok) say(box, decodeURIComponent(response.headers.get("X-Problem") || "") || `${response.status}`);
    return undefined;
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-sign]");
    if (!button) return;
    const box = button.closest("[data-signing]");
    const controller = new AbortController();
    say(box, "");
    button.disabled = true;
    running.set(box, controller);
    try {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(JSON.parse(box.dataset.request));
      await send(box, await navigator.credentials.get({ publicKey, signal: controller.signal }));
    } catch {
      // What a browser says here is for its makers, and mostly that somebody has said no.
      say(box, box.querySelector("[data-problem]").dataset.cancelled);
    } finally {
      running.delete(box);
      button.disabled = false;
    }
  });

  for (const name of ["htmx:load", "htmx:sseMessage", "htmx:afterSettle"]) document.addEventListener(name, offer);
  offer();
})();
