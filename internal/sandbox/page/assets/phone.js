// What only the page of the phones does in the browser.
"use strict";
(() => {
  // Passkeys of this browser. They are for the name localhost alone, and this page may have
  // been opened by its address.
  const named = () => window.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined && (location.hostname === "localhost" || location.hostname.endsWith(".localhost"));
  document.addEventListener("htmx:afterSettle", () => {
    for (const part of document.querySelectorAll("[data-passkeys]")) {
      part.querySelector(named() ? "[data-can]" : "[data-can-not]").hidden = false;
      const here = new URL(location.href);
      here.hostname = "localhost";
      part.querySelector("[data-at-name]").href = here.href;
    }
  });
  const control = async (number, what, body) => {
    const response = await fetch(`/sandbox/api/phones/${number}/passkey/${what}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ origin: location.origin, ...body }),
    });
    const answer = response.status === 204 ? {} : await response.json();
    if (!response.ok) throw new Error(answer.message || `${response.status}`);
    return answer;
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-make-passkey]");
    if (!button) return;
    const part = button.closest("[data-passkeys]");
    const wrong = document.querySelector("#dialog-body [data-wrong]");
    wrong.hidden = true;
    button.disabled = true;
    try {
      const options = await control(part.dataset.passkeys, "options", {});
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
      const credential = await navigator.credentials.create({ publicKey });
      await control(part.dataset.passkeys, "credentials", { credential: credential.toJSON() });
      htmx.ajax("GET", part.dataset.dialogPath, "#dialog-body");
    } catch (failure) {
      // What a browser says is for its makers; what the sandbox says is for people.
      const ofBrowser = failure instanceof DOMException;
      wrong.textContent = ofBrowser ? part.dataset.no : failure instanceof TypeError ? part.dataset.unreachable : failure.message;
      wrong.hidden = false;
      wrong.scrollIntoView({ block: "nearest" });
    } finally {
      button.disabled = false;
    }
  });
})();
