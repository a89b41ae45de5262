// What all pages do in the browser: times in its own zone, dialogs, copying, notices,
// countdowns, charts, and a word when the live connection is lost.
"use strict";
(() => {
  const lang = document.documentElement.lang || "en";
  const texts = JSON.parse(document.body.dataset.texts || "{}");
  const styles = {
    datetime: new Intl.DateTimeFormat(lang, { dateStyle: "short", timeStyle: "medium" }),
    time: new Intl.DateTimeFormat(lang, { hour: "2-digit", minute: "2-digit" }),
    day: new Intl.DateTimeFormat(lang, { weekday: "long", day: "numeric", month: "long" }),
    year: new Intl.DateTimeFormat(lang, { day: "numeric", month: "long", year: "numeric" }),
  };
  const distance = new Intl.RelativeTimeFormat(lang, { numeric: "auto", style: "short" });
  const longDistance = new Intl.RelativeTimeFormat(lang, { numeric: "auto" });
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];

  const relative = (at) => {
    const seconds = (at - Date.now()) / 1000;
    if (Math.abs(seconds) > 6 * 86400) return styles.datetime.format(at);
    for (const [unit, length] of units) {
      if (Math.abs(seconds) >= length) return distance.format(Math.round(seconds / length), unit);
    }
    if (seconds >= 1 || distance.format(0, "minute") !== "this minute") return distance.format(Math.round(seconds), "second");
    return "just now";
  };

  const writeMoment = (element) => {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) return;
    const style = element.dataset.moment;
    const text = style === "relative" ? relative(at) : styles[style].format(at);
    if (element.textContent !== text) element.textContent = text;
    if (style === "relative" && !element.title) element.title = styles.datetime.format(at);
  };

  // Live parts are exchanged in place: what the script has written into them, and what
  // the reader has opened, stays as it is.
  const writeAll = (root) => {
    for (const element of root.querySelectorAll("time[data-moment]")) writeMoment(element);
    for (const element of root.querySelectorAll("[data-until]")) writeCountdown(element);
    writeDays();
    for (const element of root.querySelectorAll("[data-chart]")) drawChart(element);
  };

  // The first of a day says which: today and yesterday by their names, others by their dates. Which
  // moments are of one day is known here alone.
  const dayName = (at) => {
    const midnight = new Date().setHours(0, 0, 0, 0);
    const days = Math.round((new Date(at).setHours(0, 0, 0, 0) - midnight) / 86400000);
    if (days === 0 || days === -1) return longDistance.format(days, "day");
    return (days > -180 ? styles.day : styles.year).format(at);
  };
  const writeDays = () => {
    let before = "";
    for (const element of document.querySelectorAll("[data-day]")) {
      const at = new Date(element.dataset.day);
      const first = at.toDateString() !== before;
      before = at.toDateString();
      const text = first ? dayName(at) : "";
      if (element.textContent !== text) element.textContent = text;
      element.hidden = !first;
    }
  };

  const writeCountdown = (element) => {
    const left = Math.max(0, Math.round((new Date(element.dataset.until) - Date.now()) / 1000));
    const text = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    if (element.textContent !== text) element.textContent = text;
  };

  setInterval(() => {
    for (const element of document.querySelectorAll("[data-until]")) writeCountdown(element);
  }, 500);
  setInterval(() => {
    for (const element of document.querySelectorAll('time[data-moment="relative"]')) writeMoment(element);
  }, 15000);

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const drawChart = (element) => {
    if (typeof uPlot === "undefined" || element.dataset.drawn === element.dataset.chart) return;
    const first = !element.dataset.drawn;
    element.dataset.drawn = element.dataset.chart;
    const data = JSON.parse(element.dataset.chart);
    if (!first && element.plot) {
      element.plot.setData(data.values);
      return;
    }
    const axis = () => ({ stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } });
    element.textContent = "";
    const bars = (side) => uPlot.paths.bars({ size: [0.35, 14], align: side });
    const hour = (at) => (at == null ? "—" : styles.time.format(new Date(at * 1000)));
    const tone = (n) => colour((data.tones ?? ["--accent", "--info"])[n]);
    const count = (_, number) => number ?? "—";
    element.plot = new uPlot({
      width: element.clientWidth, height: 200, legend: { live: false },
      scales: { x: { range: (_, low, high) => [low - 1800, high + 1800] }, y: { range: (_, low, high) => [0, Math.max(4, high * 1.1)] } },
      axes: [{ ...axis(), space: 80, values: (_, moments) => moments.map(hour) }, { ...axis(), size: 40, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000] }],
      series: [
        { label: data.labels[0], value: (_, at) => hour(at) },
        { label: data.labels[1], value: count, stroke: tone(0), fill: tone(0), width: 0, paths: bars(-1), points: { show: false } },
        { label: data.labels[2], value: count, stroke: tone(1), fill: tone(1), width: 0, paths: bars(1), points: { show: false } },
      ],
    }, data.values, element);
    new ResizeObserver(() => element.plot.setSize({ width: element.clientWidth, height: 200 })).observe(element);
  };

  // A chart is painted once, in the colours of that moment.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const element of document.querySelectorAll("[data-chart][data-drawn]")) {
      element.plot?.destroy();
      delete element.dataset.drawn;
      drawChart(element);
    }
  });

  const toast = (text, bad) => {
    const box = document.querySelector(".toasts");
    if (!box || !text) return;
    const note = document.createElement("div");
    note.className = bad ? "toast bad" : "toast";
    note.append(Object.assign(document.createElement("span"), { textContent: text }));
    const close = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
    close.setAttribute("aria-label", texts.close || "Close");
    close.addEventListener("click", () => note.remove());
    note.append(close);
    box.append(note);
    // Above a dialog that is open: what was shown last is on top.
    if (box.matches(":popover-open")) box.hidePopover();
    box.showPopover();
    if (!bad) setTimeout(() => note.remove(), 6000);
  };
  document.addEventListener("toast", (event) => toast(event.detail.value));
  document.addEventListener("problem", (event) => toast(event.detail.value, true));
  document.addEventListener("htmx:responseError", (event) => {
    const xhr = event.detail.xhr;
    if (xhr.status === 401) return location.reload();
    const header = (name) => decodeURIComponent(xhr.getResponseHeader(name) ?? "");
    if (!complain(event.detail.elt, JSON.parse(header("X-Fields") || "[]"))) toast(header("X-Problem") || texts.failed, true);
  });

  // What is wrong with a field stands below it, until somebody changes it. complain returns false
  // where a field is not to be seen: then the whole text is shown.
  const complain = (form, fields) => {
    forgive(form);
    const controls = fields.map(({ field }) => form.querySelector(`[data-field="${CSS.escape(field)}"]`) ?? form.elements?.namedItem(field)).map((one) => (one instanceof RadioNodeList ? one[0] : one));
    for (const control of controls) for (let fold = control?.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])")) fold.open = true;
    if (!fields.length || !controls.every((control) => control?.checkVisibility())) return false;
    fields.forEach(({ text }, n) => {
      const note = Object.assign(document.createElement("span"), { className: "wrong", id: `wrong-${n}-${controls[n].name}`, textContent: text });
      controls[n].setAttribute("aria-invalid", "true");
      controls[n].setAttribute("aria-describedby", note.id);
      (controls[n].closest(".check, .switch") ?? controls[n]).after(note);
    });
    controls[0].focus();
    return true;
  };
  const forgive = (form) => {
    for (const note of form.querySelectorAll("[id^=wrong-]")) note.remove();
    for (const control of form.querySelectorAll("[aria-invalid]")) {
      control.removeAttribute("aria-invalid");
      control.removeAttribute("aria-describedby");
    }
  };
  document.addEventListener("input", (event) => {
    const note = document.getElementById(event.target.getAttribute("aria-describedby") ?? "");
    if (!note?.id.startsWith("wrong-")) return;
    note.remove();
    event.target.removeAttribute("aria-invalid");
    event.target.removeAttribute("aria-describedby");
  });
  document.addEventListener("htmx:sendError", () => toast(texts.unreachable, true));

  // What acts, acts once: nothing is sent again while its answer is awaited or another page is
  // on its way, and the second click of a double click is no wish of its own. A form with several
  // deeds has a name on each of its buttons.
  const acting = new Set();
  const actorOf = (element, submitter) => (submitter?.name ? submitter : element);
  const setActing = (actor, is) => {
    if (is) acting.add(actor);
    else acting.delete(actor);
    for (const button of actor.matches("form") ? actor.querySelectorAll("[type=submit]") : [actor]) {
      button.toggleAttribute("data-acting", is);
      if (is) button.setAttribute("aria-disabled", "true");
      else button.removeAttribute("aria-disabled");
    }
  };
  const once = (event) => {
    const submits = event.type === "submit";
    const actor = submits ? actorOf(event.target, event.submitter) : event.target.closest("button[type=submit], button[hx-post]");
    if (!actor || !(acting.has(actor) || (!submits && event.detail > 1))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener("click", once, true);
  document.addEventListener("submit", once, true);
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!event.defaultPrevented && form.method === "post" && !form.hasAttribute("hx-post")) setActing(actorOf(form, event.submitter), true);
  });
  addEventListener("pageshow", () => { for (const actor of [...acting]) setActing(actor, false); });
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, requestConfig } = event.detail;
    if (requestConfig.verb === "post") setActing(actorOf(elt, requestConfig.triggeringEvent?.submitter), true);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const { elt, xhr, requestConfig } = event.detail;
    if (requestConfig.verb !== "post" || xhr.getResponseHeader("HX-Redirect")) return;
    setActing(actorOf(elt, requestConfig.triggeringEvent?.submitter), false);
    // What was answered is over, and what is sent next is another thing. Where there was no
    // answer, the same is sent again under the same key.
    const key = elt.querySelector("[name=once]");
    if (key && xhr.status > 0 && xhr.status < 500) key.defaultValue = key.value = anotherKey();
  });
  const anotherKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener) {
      event.preventDefault();
      document.getElementById(opener.dataset.dialog)?.showModal();
      return;
    }
    if (event.target.closest("[data-close]")) event.target.closest("dialog")?.close();
    const copier = event.target.closest("[data-copy]");
    if (copier) copy(copier);
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target) || event.target.closest(".button[type=submit], [data-dialog]")) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });

  const copy = async (button) => {
    const source = document.getElementById(button.dataset.copy);
    const text = source.value ?? source.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Without TLS there is no clipboard; the old way works everywhere.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    toast(texts.copied);
  };

  // A search in a part that lies above the page is answered below it.
  document.addEventListener("submit", (event) => {
    if (event.target.method === "get") event.target.closest("[popover]")?.hidePopover();
  });

  // A button that destroys is ready once the name is typed.
  document.addEventListener("input", (event) => {
    const field = event.target.closest("[data-name]");
    if (field) field.form.querySelector("[type=submit]").disabled = field.value !== field.dataset.name;
  });

  // A form that succeeded closes its dialog and is empty again.
  document.addEventListener("htmx:afterRequest", (event) => {
    const form = event.target;
    if (!event.detail.successful || !(form instanceof HTMLFormElement)) return;
    if (form.hasAttribute("data-reset")) {
      for (const field of form.querySelectorAll("[data-stays]")) field.defaultValue = field.value;
      form.reset();
      choose(form);
    }
    form.closest("dialog[data-closes]")?.close();
  });

  // Which fields of a form are shown depends on a choice: data-when="FIELD=VALUE VALUE".
  const choose = (form) => {
    for (const part of form.querySelectorAll("[data-when]")) {
      const [name, values] = part.dataset.when.split("=");
      const field = form.elements[name];
      const shown = values.split(" ").includes(field.type === "checkbox" && !field.checked ? "" : field.value);
      part.hidden = !shown;
      for (const field of part.querySelectorAll("input, select, textarea")) field.disabled = !shown;
    }
  };
  document.addEventListener("change", (event) => event.target.form && choose(event.target.form));

  // A time that was chosen is sent as the moment that it is in this time zone too, in the
  // field that data-moment-in names.
  document.addEventListener("submit", (event) => {
    for (const field of event.target.querySelectorAll("[data-moment-in]")) {
      const at = new Date(field.value);
      event.target.elements[field.dataset.momentIn].value = Number.isNaN(at.getTime()) ? "" : at.toISOString();
    }
  }, true);

  // A page is live until its stream has been gone for a second. Browsers try again each
  // second, and each try that fails is another error: only a stream that opens counts.
  let lost;
  document.addEventListener("htmx:sseError", () => { lost ??= setTimeout(() => live(false), 1000); });
  document.addEventListener("htmx:sseOpen", () => live(true));
  const live = (is) => {
    if (is) {
      clearTimeout(lost);
      lost = undefined;
    }
    document.body.classList.toggle("cut-off", !is);
    const badge = document.querySelector(".offline");
    if (badge) badge.hidden = is;
  };
  addEventListener("pagehide", () => clearTimeout(lost));

  if (typeof Idiomorph !== "undefined") {
    Idiomorph.defaults.callbacks.beforeNodeMorphed = (was, becomes) => {
      if (was.nodeType !== Node.ELEMENT_NODE) return true;
      if (was.matches("time[data-moment]") && was.dateTime === becomes.dateTime) return false;
      if (was.matches("[data-day]") && was.dataset.day === becomes.dataset?.day) return false;
      if (was.matches("[data-until]") && was.dataset.until === becomes.dataset?.until) return false;
      if (was.matches("[data-chart]")) {
        was.dataset.chart = becomes.dataset.chart;
        drawChart(was);
        return false;
      }
      if (was.matches("details") && was.open) becomes.open = true;
      if (was.matches("dialog[open]") || was.matches("[data-keep]")) return false;
      return true;
    };
  }
  // What is folded away is fetched when somebody opens it. They may open it before htmx
  // knows of it, when it has just come: so that is looked at again after each exchange.
  const fetchOpened = (root) => {
    for (const part of root.querySelectorAll('details[open] [hx-trigger="opened"]:not(.htmx-request)')) htmx.trigger(part, "opened");
  };
  document.addEventListener("toggle", (event) => fetchOpened(event.target.parentElement ?? document), true);
  document.addEventListener("htmx:afterSettle", () => fetchOpened(document));
  document.addEventListener("htmx:load", (event) => writeAll(event.target));
  document.addEventListener("htmx:sseMessage", (event) => writeAll(event.target));
  document.addEventListener("htmx:afterSettle", (event) => writeAll(event.target));
  // On a narrow screen menus scroll: to where one is.
  for (const here of document.querySelectorAll("nav > [aria-current=page]")) {
    const bar = here.parentElement;
    bar.scrollLeft += here.getBoundingClientRect().left - bar.getBoundingClientRect().left - (bar.clientWidth - here.offsetWidth) / 2;
  }
  // The dashboard and the phones lead back to where one was on the other.
  for (const link of document.querySelectorAll("[data-to]")) {
    const was = sessionStorage.getItem(link.dataset.to);
    if (was) link.href = was;
    link.addEventListener("click", () => sessionStorage.setItem(link.dataset.from, location.pathname + location.search));
  }
  writeAll(document);
  for (const form of document.forms) choose(form);
})();
