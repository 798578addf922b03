// What makes the page quicker for who has scripts: search as you type, keys, copying.
// Every page reads and every form works without it.
const one = (wanted, root = document) => root.querySelector(wanted);
const all = (wanted, root = document) => [...root.querySelectorAll(wanted)];
const say = (text) => { const there = one("#said"); if (there) there.textContent = text; };

for (const there of all("[data-script]")) there.hidden = false;

// -- copying a command
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(one(button.dataset.copy).textContent);
  const was = button.textContent;
  button.textContent = "Copied";
  say("Copied");
  setTimeout(() => { button.textContent = was; }, 1500);
});

// -- search as you type: the list alone is fetched, and the last answer counts
const search = one("form[data-live]");
if (search) {
  let waiting, running;
  const look = async () => {
    const query = new URLSearchParams(new FormData(search));
    for (const [name, value] of [...query]) if (!value) query.delete(name);
    const address = `${search.getAttribute("action")}?${query}`;
    history.replaceState(null, "", address);
    running?.abort();
    const mine = running = new AbortController();
    one("#found").setAttribute("aria-busy", "true");  // a first search may take a while: what stands there is of before
    query.set("part", "1");
    try {
      const answer = await fetch(`${search.getAttribute("action")}?${query}`, { signal: running.signal });
      one("#found").innerHTML = await answer.text();  // made by our own server, which escapes every text
      for (const there of all("#found [data-script]")) there.hidden = false;
      const { said = "", command } = one("#found [data-said]")?.dataset ?? {};
      say(said);
      if (command && one("#command")) one("#command").textContent = command;
      if (search.sort) search.sort.parentElement.hidden = query.has("q");  // the best come first
    } catch (error) {
      if (error.name !== "AbortError") say("The search did not answer");
    }
    if (mine === running) one("#found").removeAttribute("aria-busy");
  };
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(look, 140); });
}

// -- several marked at once
const count = () => {
  const marked = all("input[name=id]:checked").length;
  for (const there of all("[data-marked]")) there.textContent = marked ? `${marked} marked` : "";
  for (const there of all(".bulk")) there.classList.toggle("marked", marked > 0);
};
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-all]")) for (const box of all("input[name=id]")) box.checked = event.target.checked;
  if (event.target.matches("[data-send]")) event.target.form.requestSubmit();
  count();
});

// -- searches that are kept in this browser
const saved = one("#saved");
if (saved) {
  const read = () => { try { return JSON.parse(localStorage.getItem("limpet-searches")) || []; } catch { return []; } };
  const keep = (several) => { localStorage.setItem("limpet-searches", JSON.stringify(several.slice(0, 12))); draw(); };
  const draw = () => {
    saved.replaceChildren(...read().map((address) => {
      const item = document.createElement("li"), link = document.createElement("a"), drop = document.createElement("button");
      const query = new URLSearchParams(address);
      link.textContent = [...query.values()].filter(Boolean).join(" · ") || "everything";
      link.href = `/memories?${query}`;
      drop.className = "plain";
      drop.textContent = "×";
      drop.setAttribute("aria-label", `Drop the saved search ${link.textContent}`);
      drop.addEventListener("click", () => keep(read().filter((other) => other !== address)));
      item.className = "row";
      item.append(link, drop);
      return item;
    }));
  };
  one("#save").addEventListener("click", () => {
    const query = new URLSearchParams(location.search);
    for (const name of ["part", "done", "said", "cursor"]) query.delete(name);
    keep([...new Set([String(query), ...read()])]);
    say("Saved");
  });
  draw();
}

// -- light and dark without a new page
for (const form of all("form[data-theme-form]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const dark = getComputedStyle(document.documentElement).colorScheme;
    const now = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    const next = (dark === "dark" || now === "dark") ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    const body = new URLSearchParams(new FormData(form));
    body.set("theme", next);
    fetch(form.getAttribute("action"), { method: "POST", body });
    say(`${next} colours`);
  });
}

// -- keys: j k through a list, enter opens, x marks, e edits, / searches, letters on the buttons of the review
let at = -1;
const rows = () => all("[data-row]");
const go = (to) => {
  const several = rows();
  if (!several.length) return;
  several[at]?.classList.remove("at");
  at = Math.max(0, Math.min(several.length - 1, to));
  several[at].classList.add("at");
  several[at].scrollIntoView({ block: "nearest" });
  one("a, button", several[at])?.focus({ preventScroll: true });
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input:not([type=checkbox]), textarea, select")) {
    if (event.key === "Escape") { event.preventDefault(); event.target.blur(); }  // else a search would be emptied
    return;
  }
  const row = rows()[at];
  const keys = {
    j: () => go(at + 1), k: () => go(at - 1),
    "/": () => { const field = one("[data-live] input[type=search]") || one("input[type=search]"); field.focus(); field.select(); },
    "?": () => one("#keys").showModal(),
    e: () => { const part = one("details[data-edit]"); if (part) { part.open = true; one("textarea", part).focus(); } else row && one("a[href^='/memory/']", row)?.click(); },
    x: () => { const box = row && one("input[type=checkbox]", row); if (box) { box.checked = !box.checked; count(); } },
    g: () => { location.href = "/"; },
  };
  const action = keys[event.key];
  const button = !action && one(`[data-key="${CSS.escape(event.key)}"]`, row || document);
  if (action || button) { event.preventDefault(); action ? action() : button.click(); }
});

// -- where the places to go are a row, the one that is shown
// Not by scrollIntoView: the tabulator would go on from there, past the link to the content.
const here = one("nav [aria-current]"), row = here?.closest("nav");
if (row) row.scrollLeft += here.getBoundingClientRect().left - row.getBoundingClientRect().left - (row.clientWidth - here.offsetWidth) / 2;

// -- drawings that are wider than the window: their newest end, or their middle
for (const there of all(".scroll:has(> svg), .graph")) there.scrollLeft = (there.scrollWidth - there.clientWidth) / ("end" in there.dataset ? 1 : 2);
