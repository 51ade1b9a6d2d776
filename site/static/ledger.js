// The filter of the ledger. Without it all claims are listed; with it, what is shown is in the address. It opens
// at what does not simply hold.
(function () {
  "use strict";
  const form = document.getElementById("filter");
  const claims = Array.from(document.querySelectorAll("article.claim"));
  const output = document.getElementById("filter-count");
  const { q, section, limit } = form.elements;
  const boxes = Array.from(form.querySelectorAll("input[name=verdict]"));
  const options = Array.from(section.options);
  const first = boxes.map((box) => box.value).filter((kind) => kind !== "confirmed" && kind !== "ours");
  const names = { "ε": "epsilon", "δ": "delta", "γ": "gamma", "ι": "iota", "∞": "infinity" };
  const hangs = claims.filter((claim) => claim.dataset.limit === "ours");
  const texts = claims.map((claim) => searchable(claim.textContent));

  // The names of Greek letters beside them, as few keyboards have these. Powers are raised, without a caret.
  function searchable(text) {
    const found = Object.keys(names).filter((letter) => text.includes(letter));
    return (text + " " + found.map((letter) => names[letter]).join(" ")).toLowerCase();
  }

  function isIn(name, wanted) {
    return !wanted || name === wanted || name.startsWith(wanted + "-");
  }

  function read() {
    const given = new URLSearchParams(location.search);
    q.value = given.get("q") || "";
    section.value = given.get("section") || "";
    if (section.selectedIndex < 0) section.value = "";
    limit.checked = given.get("limit") === "ours";
    const asked = given.getAll("verdict").map((kind) => kind.replace(/ /g, "-"));
    const kinds = location.search ? asked : first;
    for (const box of boxes) box.checked = kinds.includes(box.value);
  }

  function remember() {
    const kept = new URLSearchParams();
    const kinds = boxes.filter((box) => box.checked).map((box) => box.value);
    if (section.value) kept.append("section", section.value);
    for (const kind of kinds) kept.append("verdict", kind);
    if (limit.checked) kept.append("limit", "ours");
    if (q.value.trim()) kept.append("q", q.value.trim());
    if (!kinds.length && !kept.toString()) kept.append("verdict", "all");
    const query = kept.toString();
    history.replaceState(null, "", location.pathname + (query ? "?" + query : "") + location.hash);
  }

  function show() {
    const words = q.value.replace(/\^/g, "").toLowerCase().split(/\s+/).filter(Boolean);
    const kinds = boxes.filter((box) => box.checked).map((box) => box.value);
    const byKind = {}, bySection = options.map(() => 0);
    let hanging = 0;
    const shown = { paper: 0, ours: 0 }, all = { paper: 0, ours: 0 };
    claims.forEach((claim, i) => {
      const { kind, section: place, limit: whose } = claim.dataset;
      const says = words.every((word) => texts[i].includes(word));
      const here = isIn(place, section.value);
      const judged = !kinds.length || kinds.includes(kind);
      const wanted = !limit.checked || whose === "ours";
      if (says && here && wanted) byKind[kind] = (byKind[kind] || 0) + 1;
      if (says && here && judged && whose === "ours") hanging += 1;
      if (says && judged && wanted && kind !== "ours") {
        options.forEach((option, j) => { bySection[j] += isIn(place, option.value); });
      }
      claim.hidden = !(says && here && judged && wanted);
      const part = kind === "ours" ? "ours" : "paper";
      all[part] += 1;
      shown[part] += !claim.hidden;
    });
    for (const part of new Set(claims.map((claim) => claim.closest("section")))) {
      part.hidden = !part.querySelector("article.claim:not([hidden])");
    }
    for (const box of boxes) box.parentElement.querySelector(".count").textContent = byKind[box.value] || 0;
    limit.parentElement.querySelector(".count").textContent = hanging + " of " + hangs.length;
    options.forEach((option, j) => { option.textContent = option.dataset.name + " (" + bySection[j] + ")"; });
    output.textContent = shown.paper + " of " + all.paper + " claims"
      + (shown.ours ? ", and " + shown.ours + " of " + all.ours + " statements of ours" : "");
    window.dispatchEvent(new Event("resize"));  // what was hidden had no width
  }

  function update() {
    show();
    remember();
  }

  function clear() {
    q.value = section.value = "";
    for (const box of boxes) box.checked = false;
    limit.checked = false;
    update();
  }

  // A link to a claim or to a section shows it, whatever the filter says.
  function follow() {
    const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const target = named && (named.closest("article.claim") || named);
    if (!target || !form.closest("article").contains(target)) return;
    if (target.closest("[hidden]")) clear();
    target.scrollIntoView({ behavior: "instant" });
    if (claims.includes(target)) target.focus({ preventScroll: true });
  }

  for (const option of options) option.dataset.name = option.textContent;
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("button").addEventListener("click", () => { clear(); q.focus(); });
  window.addEventListener("popstate", () => { read(); show(); });
  window.addEventListener("hashchange", follow);
  document.addEventListener("keydown", (event) => {
    const typing = /^(input|select|textarea)$/i.test(event.target.tagName) && event.target.type !== "checkbox";
    if (event.key !== "/" || event.ctrlKey || event.altKey || event.metaKey || typing) return;
    event.preventDefault();
    event.stopPropagation();
    q.focus();
    q.select();
  }, true);
  form.hidden = false;
  read();
  show();
  follow();
})();
