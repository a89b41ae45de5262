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

  // What a bubble says in a line: its dialog has that with the button.
  const lineOf = (reply) => reply.dataset.line ?? (reply.closest(".said")?.querySelector(".text, .document, .map")?.textContent ?? "").trim().slice(0, 120);

  const attached = (form) => {
    const files = [...form.elements.file.files];
    const strip = form.querySelector("[data-attached]");
    strip.hidden = !files.length;
    strip.querySelector("[data-attached-name]").textContent = files.map((file) => file.name || texts.file).join(", ");
  };

  // Files come by the field, pasted and dropped: what a form can take, it takes.
  const attach = (form, files) => {
    const all = new DataTransfer();
    if (form.elements.file.multiple) for (const file of form.elements.file.files) all.items.add(file);
    for (const file of files) all.items.add(file);
    form.elements.file.files = all.files;
    attached(form);
  };

  const grow = (area) => {
    area.rows = Math.min(6, Math.max(1, area.value.split("\n").length));
  };

  document.addEventListener("click", (event) => {
    const reply = event.target.closest("[data-reply]");
    if (reply && formOn(reply.dataset.reply)) quote(formOn(reply.dataset.reply), reply.dataset.place, lineOf(reply));
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

  const formAt = (element) => element.closest?.(".talk")?.querySelector("form[data-compose]");
  const dropping = (talk) => {
    for (const other of document.querySelectorAll(".talk")) other.classList.toggle("dropping", other === talk);
  };
  document.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files") || !formAt(event.target)) return dropping(null);
    event.preventDefault();
    dropping(event.target.closest(".talk"));
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) dropping(null); });
  document.addEventListener("drop", (event) => {
    dropping(null);
    const form = formAt(event.target);
    if (!form || !event.dataTransfer.files.length) return;
    event.preventDefault();
    attach(form, event.dataTransfer.files);
  });

  // Several files are several messages, one after another: the text stands below the first. What
  // was sent is no longer attached, so that the next try goes on where this one has ended.
  const ready = (root) => {
    for (const field of root.querySelectorAll("input[data-several]")) field.multiple = true;
    for (const button of root.querySelectorAll("[data-record]")) button.hidden = !navigator.mediaDevices?.getUserMedia || !window.MediaRecorder;
  };
  const sendAll = async (form) => {
    const submit = form.querySelector("[type=submit]");
    submit.toggleAttribute("data-acting", true);
    try {
      while (form.elements.file.files.length > 1) {
        const [first, ...rest] = form.elements.file.files;
        const body = new FormData(form);
        body.delete("file");
        body.append("file", first);
        const response = await fetch(form.action, { method: "POST", headers: { "HX-Request": "true" }, body });
        if (!response.ok) {
          const problem = decodeURIComponent(response.headers.get("X-Problem") || "") || texts.failed;
          return document.dispatchEvent(new CustomEvent("problem", { detail: { value: problem } }));
        }
        form.elements.file.files = new DataTransfer().files;
        attach(form, rest);
        form.elements.text.value = form.elements.quote.value = "";
        form.elements.once.value = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
      }
      form.requestSubmit();
    } catch {
      document.dispatchEvent(new CustomEvent("problem", { detail: { value: texts.unreachable } }));
    } finally {
      submit.toggleAttribute("data-acting", false);
    }
  };
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("[data-compose]") || form.elements.file.files.length < 2) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!form.querySelector("[type=submit][data-acting]")) sendAll(form);
  }, true);

  // A voice message is recorded until it is sent or discarded.
  let recorder;
  const record = async (form) => {
    const strip = form.querySelector("[data-recording]");
    const clock = strip.querySelector("[data-recorded]");
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch {
      return document.dispatchEvent(new CustomEvent("problem", { detail: { value: form.dataset.noMicrophone } }));
    }
    const kind = ["audio/ogg;codecs=opus", "audio/webm;codecs=opus", "audio/mp4"].find((type) => MediaRecorder.isTypeSupported(type));
    const parts = [];
    const own = recorder = new MediaRecorder(stream, { mimeType: kind });
    const began = Date.now();
    const tick = setInterval(() => {
      const seconds = Math.floor((Date.now() - began) / 1000);
      clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    }, 250);
    tell(form.elements.text, "recording");
    own.addEventListener("dataavailable", (event) => parts.push(event.data));
    own.addEventListener("stop", () => {
      clearInterval(tick);
      for (const track of stream.getTracks()) track.stop();
      strip.hidden = true;
      recorder = undefined;
      tell(form.elements.text, "paused");
      if (!own.keeps) return;
      const type = kind.split(";")[0];
      form.elements.file.value = "";
      attach(form, [new File(parts, `voice.${type.split("/")[1]}`, { type })]);
      form.elements.kind.value = "voice";
      form.requestSubmit();
    });
    own.start();
    clock.textContent = "0:00";
    strip.hidden = false;
    form.querySelector("[type=submit]").focus();
  };
  document.addEventListener("click", (event) => {
    const form = event.target.closest("form[data-compose]");
    if (!form) return;
    if (event.target.closest("[data-record]") && !recorder) record(form);
    if (event.target.closest("[data-record-stop]")) recorder?.stop();
    const emoji = event.target.closest("[data-emoji]");
    if (!emoji) return;
    const area = form.elements.text;
    area.setRangeText(emoji.textContent, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input", { bubbles: true }));
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
    if (recorder) { // what is being recorded is what is sent
      event.preventDefault();
      event.stopImmediatePropagation();
      recorder.keeps = true;
      return recorder.stop();
    }
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

  // Who types stops without a word: what lasts some seconds is hidden then.
  const ending = new WeakMap();
  setInterval(() => {
    for (const part of document.querySelectorAll("[data-lasts]")) {
      const { lasts } = part.dataset;
      if (ending.get(part)?.lasts !== lasts) ending.set(part, { lasts, at: Date.now() + lasts * 1000 });
      part.hidden = Date.now() >= ending.get(part).at;
    }
  }, 500);

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
    if (!field) return attach(target.form, event.clipboardData.files);
    target.files = event.clipboardData.files;
    field.form.requestSubmit();
  });

  // A closed dialog shows nothing of the last one when it opens again, and asks for
  // nothing meanwhile.
  document.addEventListener("htmx:load", (event) => ready(event.target));
  ready(document);
  const dialog = document.getElementById("dialog");
  const body = document.getElementById("dialog-body");
  if (!dialog) return; // of who may only look
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
