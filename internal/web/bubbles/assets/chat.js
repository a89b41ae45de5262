// What a page with a chat does in the browser: answering, attaching, typing, and words about what
// went wrong in a dialog.
"use strict";
(() => {
  const texts = JSON.parse(document.body.dataset.texts || "{}");
  const typedFor = 5000;

  const formOn = (side) => document.querySelector(`#${side}-write form`);

  const quote = (form, place, line) => {
    const strip = form.querySelector("[data-quoted]");
    form.elements.quote.value = place;
    strip.querySelector("[data-quoted-line]").textContent = line;
    strip.hidden = !place;
    form.elements.text.focus();
  };

  const attached = (form) => {
    const file = form.elements.file.files[0];
    const strip = form.querySelector("[data-attached]");
    strip.hidden = !file;
    strip.querySelector("[data-attached-name]").textContent = file ? file.name || texts.file : "";
  };

  const grow = (area) => {
    area.rows = Math.min(6, Math.max(1, area.value.split("\n").length));
  };

  document.addEventListener("click", (event) => {
    const reply = event.target.closest("[data-reply]");
    if (reply && formOn(reply.dataset.reply)) quote(formOn(reply.dataset.reply), reply.dataset.place, reply.dataset.line);
    const form = event.target.closest("form[data-compose]");
    if (event.target.closest("[data-quoted-none]")) quote(form, "", "");
    if (event.target.closest("[data-attached-none]")) {
      form.elements.file.value = "";
      attached(form);
    }
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("form[data-compose] [name=file]")) attached(event.target.form);
  });
  document.addEventListener("reset", (event) => {
    const form = event.target;
    if (!form.matches("[data-compose]")) return;
    setTimeout(() => {
      quote(form, "", "");
      attached(form);
      grow(form.elements.text);
      form.closest(".talk").querySelector(".thread").scrollTop = 0; // the end: the newest message
    });
  });

  // Enter sends, with Shift it begins a line. A word that is still being composed is not
  // finished yet.
  document.addEventListener("keydown", (event) => {
    const area = event.target;
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || !area.matches("form[data-compose] textarea")) return;
    event.preventDefault();
    area.form.requestSubmit();
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("[data-compose]")) return;
    stopTyping(form.elements.text);
    if (!form.elements.text.value.trim() && !form.elements.file.files.length) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  // The other side sees that somebody types, and when they stop.
  const tell = (area, presence) => fetch(area.dataset.typing, {
    method: "POST", headers: { "HX-Request": "true" }, body: new URLSearchParams({ presence }),
  }).catch(() => {});
  const typing = new WeakMap();
  const stopTyping = (area) => {
    const state = typing.get(area);
    if (!state) return;
    clearTimeout(state.timer);
    typing.delete(area);
    tell(area, "paused");
  };
  document.addEventListener("input", (event) => {
    const area = event.target;
    if (!area.matches("[data-typing]")) return;
    grow(area);
    const state = typing.get(area) || { said: 0 };
    clearTimeout(state.timer);
    if (Date.now() - state.said > typedFor) {
      state.said = Date.now();
      tell(area, "composing");
    }
    state.timer = setTimeout(() => stopTyping(area), typedFor);
    typing.set(area, state);
  });

  // A voice message that is played counts as played, once.
  document.addEventListener("play", (event) => {
    const path = event.target.dataset.played;
    if (!path) return;
    delete event.target.dataset.played;
    fetch(path, { method: "POST", headers: { "HX-Request": "true" } }).catch(() => {});
  }, true);

  // A picture of a code can be pasted.
  document.addEventListener("paste", (event) => {
    const field = document.querySelector("#dialog[open] [data-paste]");
    const target = field || event.target.closest("form[data-compose]")?.elements.file;
    if (!target || !event.clipboardData.files.length) return;
    event.preventDefault();
    target.files = event.clipboardData.files;
    if (field) field.form.requestSubmit();
    else attached(target.form);
  });

  // A closed dialog shows nothing of the last one when it opens again, and asks for
  // nothing meanwhile.
  const dialog = document.getElementById("dialog");
  const body = document.getElementById("dialog-body");
  dialog.addEventListener("close", () => {
    for (const playing of body.querySelectorAll("audio, video")) playing.pause();
    body.replaceChildren();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target === body && !dialog.open) event.detail.shouldSwap = false;
  });
  document.addEventListener("htmx:responseError", (event) => {
    const xhr = event.detail.xhr;
    if (!dialog.open) return;
    const wrong = body.querySelector("[data-wrong]");
    if (!wrong) return dialog.close();
    wrong.textContent = decodeURIComponent(xhr.getResponseHeader("X-Problem") || "") || texts.failed;
    wrong.hidden = false;
    wrong.scrollIntoView({ block: "nearest" });
  });
})();
