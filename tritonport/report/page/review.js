"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const hunks = [...document.querySelectorAll(".hunk")];
  const PREFIX = "tritonport.review/1:";
  const THEME = "tritonport.theme";
  // A browser may refuse to store anything for a file: ticks then last as long as the page.
  const memory = new Map();
  const store = {
    get(key) { try { return localStorage.getItem(key) ?? memory.get(key) ?? null; } catch { return memory.get(key) ?? null; } },
    set(key, value) { memory.set(key, value); try { localStorage.setItem(key, value); } catch { /* kept in memory */ } },
    drop(key) { memory.delete(key); try { localStorage.removeItem(key); } catch { /* was in memory */ } },
    marks() {
      const keys = new Set(memory.keys());
      try { for (let i = 0; i < localStorage.length; i++) keys.add(localStorage.key(i)); } catch { /* memory alone */ }
      return [...keys].filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
    },
  };
  const mark = (hunk) => hunk.id.slice(2);
  /* A tick: when, of which source, and what the hunk is in whatever file. */
  const source = document.documentElement.dataset.source;
  const made = (content) => JSON.stringify({ at: new Date().toISOString(), source, content });
  function tickOf(name) {
    try { return JSON.parse(store.get(PREFIX + name)) ?? {}; } catch { return {}; }
  }
  const done = (hunk) => hunk.classList.contains("done");
  const visible = () => hunks.filter((hunk) => !hunk.hidden);
  let current = null;

  function show(hunk, reviewed) {
    hunk.classList.toggle("done", reviewed);
    hunk.querySelector("details").open = !reviewed;
    hunk.querySelector(".tick input").checked = reviewed;
  }
  function tick(hunk, reviewed) {
    if (reviewed) store.set(PREFIX + mark(hunk), made(hunk.dataset.content));
    else store.drop(PREFIX + mark(hunk));
    show(hunk, reviewed);
    tally();
  }
  function tally() {
    const count = hunks.filter(done).length;
    const shown = visible().length;
    byId("done").max = Math.max(hunks.length, 1);
    byId("done").value = count;
    byId("tally").textContent = `${count} of ${hunks.length} reviewed` + (shown < hunks.length ? `, ${shown} shown` : "");
  }
  /* A hunk whose file moved keeps its tick: that of a hunk of this source which is not on the page, with its content. */
  function follow() {
    const here = new Set(hunks.map(mark));
    const left = store.marks().filter((name) => !here.has(name) && tickOf(name).source === source);
    for (const hunk of hunks) {
      if (store.get(PREFIX + mark(hunk)) !== null) continue;
      const at = left.findIndex((name) => tickOf(name).content === hunk.dataset.content);
      if (at < 0) continue;
      store.set(PREFIX + mark(hunk), made(hunk.dataset.content));
      store.drop(PREFIX + left.splice(at, 1)[0]);
    }
  }
  function restore() {
    follow();
    for (const hunk of hunks) show(hunk, store.get(PREFIX + mark(hunk)) !== null);
    tally();
  }

  const select = (id) => byId(id)?.value ?? "";
  const has = (element, name, value) => !value || (element.dataset[name] ?? "").split(" ").includes(value);
  function filter() {
    const [rule, kind, outcome, cause] = ["by-rule", "by-class", "by-outcome", "by-cause"].map(select);
    const open = byId("by-open").checked;
    for (const hunk of hunks) {
      const caused = cause === "any" ? hunk.dataset.causes !== "" : has(hunk, "causes", cause);
      hunk.hidden = !(has(hunk, "rules", rule) && has(hunk, "classes", kind) && has(hunk, "outcomes", outcome) && caused && !(open && done(hunk)));
    }
    for (const section of document.querySelectorAll(".function, section.file")) {
      section.hidden = !section.querySelector(".hunk:not([hidden])");
    }
    for (const row of document.querySelectorAll(".kernels tbody tr")) {
      row.hidden = !(has(row, "rules", rule) && has(row, "classes", kind) && has(row, "outcomes", outcome));
    }
    for (const item of document.querySelectorAll(".stuck")) item.hidden = !has(item, "outcomes", outcome);
    tally();
  }
  function clear() {
    for (const id of ["by-rule", "by-class", "by-outcome", "by-cause"]) if (byId(id)) byId(id).value = "";
    byId("by-open").checked = false;
    filter();
  }

  function go(hunk) {
    if (!hunk) return;
    current = hunk;
    hunk.focus({ preventScroll: true });
    hunk.scrollIntoView({ block: "start" });
  }
  /* The hunk that has the focus, or the nearest to the top of the window. */
  function place(list) {
    const focused = document.activeElement?.closest?.(".hunk");
    const at = list.indexOf(focused ?? current);
    if (at >= 0) return at;
    const below = list.findIndex((hunk) => hunk.getBoundingClientRect().top > 80);
    return below < 0 ? list.length - 1 : below - 1;
  }
  function move(step) {
    const list = visible();
    go(list[Math.min(Math.max(place(list) + step, 0), list.length - 1)]);
  }
  function nextOpen() {
    const list = visible();
    const at = place(list);
    go(list.slice(at + 1).find((hunk) => !done(hunk)) ?? list.find((hunk) => !done(hunk)));
  }
  function tickCurrent() {
    const hunk = document.activeElement?.closest?.(".hunk") ?? current;
    if (!hunk) return;
    const reviewed = !done(hunk);
    tick(hunk, reviewed);
    if (reviewed) nextOpen();
  }
  function openFilter(id) {
    showFilters(true);
    byId(id).focus();
  }
  function showFilters(open) {
    byId("filters").classList.toggle("open", open);
    byId("more").setAttribute("aria-expanded", String(open));
  }

  const keys = {
    j: () => move(1), k: () => move(-1), n: nextOpen, x: tickCurrent, Escape: clear,
    r: () => openFilter("by-rule"), c: () => openFilter("by-class"), o: () => openFilter("by-outcome"),
    "?": () => byId("keys").showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
    if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
    if (typing && event.key !== "Escape") return;
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    if (typing) event.target.blur();
    action();
  });

  function saveTicks() {
    const own = store.marks().filter((name) => tickOf(name).source === source).sort();
    const reviewed = Object.fromEntries(own.map((name) => [name, tickOf(name).content]));
    const text = JSON.stringify({ "tritonport.review": 1, source, reviewed }, null, 1);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = "review-ticks.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  async function loadTicks(event) {
    const [file] = event.target.files;
    if (!file) return;
    try {
      const data = JSON.parse(await file.text());
      if (data.source !== source) throw new Error("ticks of other sources");
      for (const [name, content] of Object.entries(data.reviewed)) store.set(PREFIX + name, made(content));
      restore();
    } catch {
      byId("tally").textContent = `${file.name} holds no ticks of ${source}`;
    }
    event.target.value = "";
  }
  function turnTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    store.set(THEME, next);
  }

  if (store.get(THEME)) document.documentElement.dataset.theme = store.get(THEME);
  byId("tools").hidden = false;
  for (const hunk of hunks) {
    const label = hunk.querySelector(".tick");
    label.hidden = false;
    label.firstElementChild.addEventListener("change", (event) => tick(hunk, event.target.checked));
    hunk.addEventListener("focusin", () => { current = hunk; });
  }
  for (const id of ["by-rule", "by-class", "by-outcome", "by-cause", "by-open"]) byId(id)?.addEventListener("change", filter);
  byId("next").addEventListener("click", () => move(1));
  byId("previous").addEventListener("click", () => move(-1));
  byId("more").addEventListener("click", () => showFilters(!byId("filters").classList.contains("open")));
  byId("keep").addEventListener("click", saveTicks);
  byId("load").addEventListener("change", loadTicks);
  byId("theme").addEventListener("click", turnTheme);
  byId("help").addEventListener("click", () => byId("keys").showModal());
  restore();
})();
