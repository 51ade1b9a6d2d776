/* The explorer's controls: typed texts in, results, pictures and messages out, settings in the address. */
(function () {
  "use strict";

  const { DEFAULTS, Refusal } = explorerCore;
  const at = (name) => document.getElementById(`explorer-${name}`);
  const form = at("form");
  const radios = [...form.querySelectorAll("input[name=rule]")];
  const sliders = [...form.querySelectorAll("input[type=range]")];

  let texts = { ...DEFAULTS }; // what is typed, the only state
  let shown = null; // the last settings that had an answer, with it and its curves
  let ignored = []; // settings of the address that this page does not know

  // --- Sliders: a ladder of round values for each number ----------------------------------------

  function ladder(from, to, text) {
    return Array.from({ length: to - from + 1 }, (_, i) => text(from + i));
  }

  const LADDERS = {
    // 0.01, 0.011, …, 0.099, 0.1, 0.11, …, 20: two digits
    epsilon: ladder(0, 280, (i) => `${10 + (i % 90)}e${Math.floor(i / 90) - 3}`).map((text) => String(Number(text))),
    delta: ladder(0, 89, (i) => `${[1, 2, 5][i % 3]}e-${30 - Math.floor(i / 3)}`).map((text) => text.replace(/(\d)e-1$/, "0.$1")),
    support: ladder(1, 190, (i) => String(i <= 100 ? i : 10 * (i - 90))),
    slack: ladder(0, 100, (i) => String(i / 100)),
    keysize: ladder(1, 64, (i) => `2^${i}`),
  };

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
    at("address-error").textContent = ignored.length
      ? `The address has settings that are unknown here and were left out: ${ignored.join(", ")}.`
      : "";
    const stale = Object.keys(refused).length > 0;
    at("all").classList.toggle("stale", stale);
    at("stale").hidden = !stale;
    if (stale) {
      at("verdict").className = "explorer-verdict";
      at("verdict").textContent = "No answer for these settings.";
    }
    at("stale").textContent = "The settings have no answer, see the message beside them. These are the results of " +
      `the last that had one: ${at("settings").textContent}.`;
    at("download").disabled = stale;
    at("link").disabled = stale;
    say(stale ? [...new Set(Object.values(refused))].join(" ") : at("verdict").textContent);
  }

  let saying = 0;

  /** Tell a screen reader, once the settings rest. */
  function say(message) {
    clearTimeout(saying);
    saying = setTimeout(() => { at("status").textContent = message; }, 600);
  }

  function showResults() {
    const { explored } = shown;
    const { numbers, settings } = explored;
    const { epsilon, delta, support, slack, keysize, rule } = settings.typed;
    for (const cell of document.querySelectorAll(".explorer [data-number]")) {
      cell.textContent = numbers[cell.dataset.number];
    }
    const auto = support === "auto" ? ", as small as possible" : "";
    at("settings").textContent =
      `ε = ${epsilon}, δ = ${delta}, D = ${numbers.support}${auto}, slack ${slack}, KEYSIZE ${keysize}, ${rule} rule`;
    const mark = explored.tableKeeps ? "✓ The table keeps the promise" : "✗ The table breaks the promise";
    at("verdict").className = `explorer-verdict ${explored.tableKeeps ? "kept" : "broken"}`;
    at("verdict").textContent = `${mark}: its δ at ε = ${epsilon} is ${numbers.delta_table}, wanted ${delta} at most.`;
    at("why").textContent = reasons(explored).join(" ");
    at("best-words").textContent = numbers.best_support === "1"
      ? "The smallest D that there is: with it the noise's δ at ε is within the wanted one."
      : "With a smaller D the noise's δ at ε would be above the wanted one.";
    at("plateau").textContent =
      `From ε = ${numbers.plateau_onset} on a larger ε gains nothing: the noise's δ stays at ${numbers.delta}.`;
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
  function reasons({ settings, numbers, noiseKeeps, tableKeeps, tableKeepsNoise, keepsEpsilon, lost }) {
    const { delta, keysize, rule } = settings;
    const words = [];
    if (!tableKeeps && delta.n * keysize < delta.d) {
      words.push(`No table of ${keysize} keys can keep it: its δ is at least one key's share, ` +
        `${explorerNumbers.text({ n: 1n, d: keysize })}.`);
    } else if (!noiseKeeps && tableKeeps) {
      words.push(`The noise of D = ${numbers.support} misses the wanted δ, with ${numbers.delta} (D* is ` +
        `${numbers.best_support}); this table happens to keep it, another KEYSIZE may not.`);
    } else if (!noiseKeeps) {
      words.push(`D = ${numbers.support} is too small: the noise itself has δ = ${numbers.delta} at this ε. From ` +
        `D* = ${numbers.best_support} on it has what is wanted.`);
    } else if (!tableKeeps) {
      words.push(`The noise itself would keep it, with δ = ${numbers.delta}; rounding to keys does not. ` +
        (rule === "symmetric" ? "More keys can help." : "More keys, another D or the symmetric rule can help."));
    } else {
      const much = numbers.delta === numbers.delta_table ? "by less than the digits shown" : "within what is allowed";
      words.push(`At this ε the noise itself has δ = ${numbers.delta}, and rounding to keys makes it ` +
        `${tableKeepsNoise ? "no larger" : `larger, ${much}`}.`);
    }
    if (lost.length) {
      const are = lost.length === 1 ? "One value is" : `${lost.length} values are`;
      words.push(`${are} lost, so that no ε bounds every ratio of neighbouring probabilities.`);
    } else if (!keepsEpsilon) {
      words.push(`Some ratios of neighbouring probabilities exceed e^ε: two-sided, ε^Q is ${numbers.epsilon_two_sided}.`);
    } else {
      words.push("No value is lost, and every ratio of neighbouring probabilities stays within e^ε, up and down.");
    }
    return words;
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
    else if (target.type === "checkbox") texts.support = target.checked ? "auto" : at("support").value || "25";
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
    const { epsilon, rule } = explored.settings.typed;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([explorerCore.csv(explored)], { type: "text/csv" }));
    link.download = `lookup-table-epsilon-${epsilon}-D-${explored.support}-keys-${explored.numbers.keysize}-${rule}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });

  const linkWords = at("link").textContent;
  let copying = 0;

  at("link").addEventListener("click", async () => {
    putAddress();
    try {
      await navigator.clipboard.writeText(location.href);
      say("The link is copied.");
      at("link").textContent = "Copied";
      clearTimeout(copying);
      copying = setTimeout(() => { at("link").textContent = linkWords; }, 2000);
    } catch {
      window.prompt("Copy this link:", location.href);
    }
  });

  window.addEventListener("hashchange", () => {
    readAddress();
    update();
  });

  for (const slider of sliders) {
    slider.min = 0;
    slider.max = LADDERS[slider.dataset.for].length - 1;
    slider.step = 1;
  }
  at("all").hidden = false;
  update(); // so that there are results even if the address has mistakes
  clearTimeout(keeping);
  readAddress();
  update();
  new ResizeObserver(() => draw()).observe(at("plot-pmf"));
  window.addEventListener("beforeprint", () => draw(true));
  window.addEventListener("afterprint", () => draw());
})();
