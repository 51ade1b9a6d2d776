/* The explorer's controls: typed texts in, results, pictures and messages out, settings in the address. */
(function () {
  "use strict";

  const { words, fill, html, say } = pageWords;
  const { Refusal } = explorerCore;
  const DEFAULTS = Object.fromEntries(Object.entries(words.fields).map(([name, field]) => [name, field.default]));
  const LADDERS = words.ladders; // what each slider writes
  const at = (name) => document.getElementById(`explorer-${name}`);
  const form = at("form");
  const radios = [...form.querySelectorAll("input[name=rule]")];

  let texts = { ...DEFAULTS }; // what is typed, the only state
  let shown = null; // the last settings that had an answer, with it and its curves
  let ignored = []; // settings of the address that this page does not know

  // --- Sliders ------------------------------------------------------------------------------------

  /** A text as a place on a scale, for the nearest rung. */
  function scaleOf(name, text) {
    const power = /^(\d+)(?:\^|\*\*)(\d+)$/.exec(text);
    const value = power ? Number(power[1]) ** Number(power[2]) : Number(text);
    return name === "slack" ? value : Math.log(value);
  }

  const RUNGS = Object.fromEntries(
    Object.entries(LADDERS).map(([name, rungs]) => [name, rungs.map((text) => scaleOf(name, text))]),
  );

  function nearestRung(name, text) {
    const place = scaleOf(name, text);
    let best = 0;
    RUNGS[name].forEach((rung, i) => {
      if (Math.abs(rung - place) < Math.abs(RUNGS[name][best] - place)) best = i;
    });
    return best;
  }

  // --- From texts to results --------------------------------------------------------------------

  function update() {
    const { settings, refused } = explorerCore.read(texts);
    if (!Object.keys(refused).length) {
      try {
        const explored = explorerCore.explore(settings);
        shown = { explored, curves: explorerCore.curve(explored) };
        showResults();
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        for (const name of error.fields) refused[name] = error.message;
      }
    }
    showFields(refused);
    showErrors(refused);
    if (!Object.keys(refused).length) keepAddress();
  }

  let waiting = 0;

  /** Compute once per frame, however fast a slider moves. */
  function updateSoon() {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(update);
  }

  function showFields(refused) {
    const auto = texts.support === "auto";
    const best = Object.keys(refused).length ? "" : shown.explored.numbers.best_support;
    for (const name of Object.keys(LADDERS)) {
      const field = at(name);
      const slider = at(`${name}-slider`);
      const text = name === "support" && auto ? best : texts[name];
      if (field.value.trim() !== text) field.value = text;
      if (refused[name] || !text) continue;
      slider.value = nearestRung(name, text);
      slider.setAttribute("aria-valuetext", text);
    }
    at("auto").checked = auto;
    for (const radio of radios) radio.checked = radio.value === texts.rule;
  }

  function showErrors(refused) {
    for (const name of Object.keys(DEFAULTS)) {
      const message = refused[name] ?? "";
      const error = at(`${name}-error`);
      if (error.textContent !== message) error.textContent = message;
      for (const field of name === "rule" ? radios : [at(name)]) {
        if (message) field.setAttribute("aria-invalid", "true");
        else field.removeAttribute("aria-invalid");
      }
    }
    at("address-error").textContent = ignored.length ? say("unknown", { names: ignored.join(", ") }) : "";
    const stale = Object.keys(refused).length > 0;
    at("all").classList.toggle("stale", stale);
    at("stale").hidden = !stale;
    if (stale) {
      at("verdict").className = "explorer-verdict";
      at("verdict").textContent = say("no_answer");
    }
    at("stale").textContent = say("stale", { settings: at("settings").textContent });
    at("download").disabled = stale;
    at("link").disabled = stale;
    announce(stale ? [...new Set(Object.values(refused))].join(" ") : at("verdict").textContent);
  }

  let saying = 0;

  /** Tell a screen reader, once the settings rest. */
  function announce(message) {
    clearTimeout(saying);
    saying = setTimeout(() => { at("status").textContent = message; }, 600);
  }

  function showResults() {
    const { explored } = shown;
    const { numbers, settings } = explored;
    for (const cell of document.querySelectorAll(".explorer [data-number]")) {
      cell.textContent = numbers[cell.dataset.number];
    }
    const typed = { ...settings.typed, support: numbers.support };
    at("settings").textContent = say(settings.support === null ? "settings_auto" : "settings", typed);
    at("verdict").className = `explorer-verdict ${explored.tableKeeps ? "kept" : "broken"}`;
    at("verdict").textContent = say(explored.tableKeeps ? "kept" : "broken", { ...numbers, ...typed });
    at("why").innerHTML = html(reasons(explored));
    at("plateau").textContent = say("plateau", numbers);
    for (const [i, row] of words.rows.entries()) at(`explain-${i}`).innerHTML = fill(row.explain, numbers);
    const rows = explored.cuts.map((cut, i) => {
      const weight = explored.weights[i];
      const name = weight ? "" : " class=\"lost\"";
      return `<tr${name}><th scope="row">${i - explored.support}</th><td>${weight}</td><td>${cut}</td></tr>`;
    });
    at("cuts").innerHTML = rows.join("");
    at("command").textContent = explorerCore.command(settings, explored.support);
    at("lost").hidden = !explored.lost.length;
    draw();
  }

  /** Why the promise is kept or broken, and what else there is to know about the table. */
  function reasons(explored) {
    const share = explorerNumbers.text({ n: 1n, d: explored.settings.keysize });
    const values = { ...explored.numbers, share };
    return `${say(why(explored), values)} ${say(ratios(explored), values)}`;
  }

  function why({ settings, numbers, noiseKeeps, tableKeeps, tableKeepsNoise }) {
    const { delta, keysize, rule } = settings;
    if (!tableKeeps && delta.n * keysize < delta.d) return "too_few_keys";
    if (!noiseKeeps) return tableKeeps ? "by_chance" : "too_small";
    if (!tableKeeps) return rule === "symmetric" ? "rounding_breaks_symmetric" : "rounding_breaks";
    if (tableKeepsNoise) return "no_larger";
    return numbers.delta === numbers.delta_table ? "slightly_larger" : "larger";
  }

  function ratios({ lost, keepsEpsilon }) {
    if (lost.length) return "some_lost";
    return keepsEpsilon ? "ratios_within" : "ratios_exceed";
  }

  const PAPER = 320; // two pictures side by side on a page of paper
  const PLOTS = {
    pmf: (width) => explorerPlots.pmf(shown.explored, width),
    curve: (width) => explorerPlots.curve(shown.explored, shown.curves, width),
    ratios: (width) => explorerPlots.ratios(shown.explored, width),
  };

  /** Draw the pictures as wide as there is room, or for paper. */
  function draw(paper) {
    for (const [name, plot] of Object.entries(PLOTS)) {
      const place = at(`plot-${name}`);
      place.innerHTML = plot(paper ? PAPER : Math.max(Math.floor(place.clientWidth), 240));
    }
  }

  // --- The address -------------------------------------------------------------------------------

  const written = (text) => encodeURIComponent(text).replaceAll("%5E", "^");

  function addressOf(settings) {
    return "#" + Object.entries(settings).map(([name, text]) => `${name}=${written(text)}`).join("&");
  }

  let keeping = 0;

  /** Put the settings into the address, once they rest; but an address without settings stays as it is. */
  function keepAddress() {
    clearTimeout(keeping);
    if (ignored.length) return; // the message is about this address
    const before = location.hash;
    if (addressOf(DEFAULTS) === addressOf(texts) && !before.includes("=")) return;
    keeping = setTimeout(() => {
      if (location.hash === before) putAddress(); // else a link is just being followed
    }, 200);
  }

  function putAddress() {
    clearTimeout(keeping);
    const address = addressOf(shown.explored.settings.typed);
    if (location.hash !== address) history.replaceState(null, "", address);
  }

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text; // a stray per cent sign
    }
  }

  function readAddress() {
    ignored = [];
    if (!location.hash.includes("=")) return; // a place on the page, no settings
    texts = { ...DEFAULTS };
    for (const part of location.hash.slice(1).split("&")) {
      if (!part) continue;
      const [name, ...rest] = part.split("=");
      if (Object.hasOwn(DEFAULTS, name)) texts[name] = decoded(rest.join("=")).trim();
      else ignored.push(decoded(name).slice(0, 40));
    }
  }

  // --- What can be done ----------------------------------------------------------------------------

  form.addEventListener("input", ({ target }) => {
    if (target.type === "range") texts[target.dataset.for] = LADDERS[target.dataset.for][Number(target.value)];
    else if (target.type === "checkbox") texts.support = target.checked ? "auto" : at("support").value || shown.explored.numbers.support;
    else texts[target.name] = target.value.trim();
    ignored = [];
    updateSoon();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  at("example").addEventListener("click", () => {
    texts = { ...DEFAULTS };
    ignored = [];
    update();
  });

  at("download").addEventListener("click", () => {
    const { explored } = shown;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([explorerCore.csv(explored)], { type: "text/csv" }));
    link.download = say("file", explorerCore.whole(explored.settings, explored.support));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });

  let copying = 0;

  at("link").addEventListener("click", async () => {
    putAddress();
    try {
      await navigator.clipboard.writeText(location.href);
      announce(say("copied_said"));
      at("link").textContent = say("copied");
      clearTimeout(copying);
      copying = setTimeout(() => { at("link").textContent = say("link"); }, 2000);
    } catch {
      window.prompt(say("copy_by_hand"), location.href);
    }
  });

  window.addEventListener("hashchange", () => {
    readAddress();
    update();
  });

  at("all").hidden = false;
  update(); // so that there are results even if the address has mistakes
  clearTimeout(keeping);
  readAddress();
  update();
  new ResizeObserver(() => draw()).observe(at("plot-pmf"));
  window.addEventListener("beforeprint", () => draw(true));
  window.addEventListener("afterprint", () => draw());
})();
