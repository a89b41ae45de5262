// Passkeys: a button asks the gateway for a question, gives it to the device, and brings
// the answer back.
"use strict";
(() => {
  if (!window.PublicKeyCredential || !navigator.credentials) return;
  for (const part of document.querySelectorAll("[data-passkeys]")) part.hidden = false;

  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const withBytes = (list) => (list || []).map((one) => ({ ...one, id: bytes(one.id) }));

  const post = async (path, body) => {
    const response = await fetch(path, {
      method: "POST", headers: { "HX-Request": "true", "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
    if (response.ok) return response;
    throw new Error(decodeURIComponent(response.headers.get("X-Problem") || "") || `${response.status}`);
  };

  const ask = async (button) => {
    const { publicKey } = await (await post(button.dataset.ask, {})).json();
    publicKey.challenge = bytes(publicKey.challenge);
    if (button.dataset.passkey === "create") {
      publicKey.user.id = bytes(publicKey.user.id);
      publicKey.excludeCredentials = withBytes(publicKey.excludeCredentials);
      return publicKey;
    }
    publicKey.allowCredentials = withBytes(publicKey.allowCredentials);
    return publicKey;
  };

  const answer = (credential) => {
    const response = { clientDataJSON: text(credential.response.clientDataJSON) };
    for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (credential.response[name]) response[name] = text(credential.response[name]);
    }
    return { id: credential.id, rawId: text(credential.rawId), type: credential.type, response };
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-passkey]");
    if (!button) return;
    const problem = button.closest("[data-passkeys]").querySelector("[data-passkey-problem]");
    problem.hidden = true;
    button.disabled = true;
    let asked = false;
    try {
      const publicKey = await ask(button);
      asked = true;
      const credential = await navigator.credentials[button.dataset.passkey]({ publicKey });
      asked = false;
      const name = document.getElementById(button.dataset.nameField || "")?.value || "";
      const response = await post(button.dataset.answer, { name, answer: answer(credential) });
      location.assign(response.headers.get("HX-Redirect") || "/");
    } catch (failure) {
      // What a device or a browser says is for its makers; what the gateway says is for people.
      problem.textContent = asked ? problem.dataset.text : failure.message;
      problem.hidden = false;
    } finally {
      button.disabled = false;
    }
  });
})();
