/* The page of the differencing game: reads the address, shows rounds, keeps the score. */
(function (rules) {
  "use strict";

  const { data, percent, counted } = rules;
  const one = (id) => document.getElementById("game-" + id);
  const mostAsks = Math.max(...data.offices.map((office) => office.deltas.length));
  const state = { seed: data.seed, plan: 20, office: data.offices[0], scores: {} };

  function signed(value) {
    return (value < 0 ? "−" : value > 0 ? "+" : "") + String(Math.abs(value));
  }

  /* --- the address ------------------------------------------------------------------------------------ */

  function whole(text, fallback) {
    const value = Number(text);
    return /^\d+$/.test(text || "") && value < 2 ** 32 ? value : fallback;
  }

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    state.seed = whole(given.get("seed"), data.seed);
    const plan = whole(given.get("plan"), 20);
    state.plan = data.plans.includes(plan) ? plan : 20;
    state.office = data.offices.find((office) => office.name === given.get("office")) || data.offices[0];
  }

  function writeAddress() {
    const address = `#seed=${state.seed}&plan=${state.plan}&office=${state.office.name}`;
    if (location.hash !== address) history.replaceState(null, "", address);
  }

  /* --- a game ----------------------------------------------------------------------------------------- */

  function start() {
    for (const office of data.offices) state.scores[office.name] = { rounds: 0, right: 0, asked: 1, most: 1 };
    one("seed").value = state.seed;
    one("plan").value = state.plan;
    for (const radio of one("offices").querySelectorAll("input")) radio.checked = radio.value === state.office.name;
    one("outcome").replaceChildren();
    one("status").textContent = "";
    writeAddress();
    showRound();
    showScores();
    showStrategy();
  }

  function played() {
    return state.scores[state.office.name];
  }

  function complete() {
    return played().rounds >= state.plan;
  }

  function dealt() {
    return rules.deal(state.office, played().rounds, state.seed, played().asked, true);
  }

  function showRound() {
    const over = complete(), asked = played().asked;
    const { others, differences } = dealt();
    const last = differences[differences.length - 1], mean = rules.sum(differences) / differences.length;
    one("title").textContent = over
      ? `The ${state.office.name} office: all ${state.plan} rounds are played`
      : `Round ${played().rounds + 1} of ${state.plan}, the ${state.office.name} office`;
    one("others").textContent = over ? "–" : others;
    one("published").textContent = over ? "–" : others + last;
    one("difference").textContent = over ? "–" : signed(last);
    one("answers").textContent = over ? "Choose another office, or start anew with the next seed."
      : asked === 1 ? "Asked once."
      : !state.office.fresh ? `Asked ${asked} times: the same number each time.`
      : `${asked} answers, differences ${differences.map(signed).join(" ")}; ` +
        `on average ${signed(Number(mean.toFixed(2)))}.`;
    one("ask").disabled = one("ask-ten").disabled = over || asked >= mostAsks;
    one("ill").disabled = one("well").disabled = over;
  }

  function ask(count) {
    if (complete()) return;
    const score = played();
    score.asked = Math.min(score.asked + count, mostAsks);
    showRound();
    const shown = one("published").textContent;
    const said = state.office.fresh ? `Answer ${score.asked} is ${shown}; all are listed above.`
      : `The same number again: ${shown}.`;
    one("status").textContent = score.asked < mostAsks ? said : `${said} More than ${mostAsks} are not given.`;
  }

  function guess(ill) {
    if (complete()) return;
    const { present } = dealt(), score = played();
    score.rounds += 1;
    score.right += ill === present ? 1 : 0;
    if (state.office.fresh) score.most = Math.max(score.most, score.asked);
    score.asked = 1;
    const focused = document.activeElement;
    showRound();
    showScores();
    const next = complete() ? `All ${state.plan} rounds of this office are played.`
      : `Now round ${score.rounds + 1}: you know ${one("others").textContent}, published are ` +
        `${one("published").textContent}.`;
    one("status").textContent = `${ill === present ? "Right" : "Wrong"}: the dentist was ` +
      `${present ? "ill" : "not ill"}. ${next}`;
    if (focused && focused.disabled) one("status").focus();
  }

  /* --- scores ----------------------------------------------------------------------------------------- */

  function paragraph(text) {
    const made = document.createElement("p");
    made.textContent = text;
    return made;
  }

  /* The picture of a score, and what it says in words. */
  function drawn(office, found, asks) {
    const picture = document.createElement("div");
    picture.className = "game-picture";
    picture.innerHTML = rules.bar(found, office.bounds[asks - 1], office.best[asks - 1]);
    return picture;
  }

  function inWords(found) {
    return `${found.right} of ${counted(found.rounds, "round")} right: ${percent(found.rate)}, ` +
      `95 % interval ${percent(found.low)} to ${percent(found.high)}.`;
  }

  function promise(office, asks) {
    const delta = Number(office.deltas[asks - 1].toPrecision(3));
    const shown = `(ε,\u00a0δ)\u00a0=\u00a0(${office.epsilon},\u00a0${delta})`;
    if (delta === 1) return `Promise: none, ${shown}.`;
    if (!office.fresh) return `Promise: ${shown}, however often you ask.`;
    return `What its noise can promise for ${counted(asks, "answer")}: ${shown}.`;
  }

  function showScores() {
    one("scores").replaceChildren(...data.offices.map((office) => {
      const { rounds, right, most } = state.scores[office.name];
      const found = rules.score(right, rounds);
      const card = document.createElement("section");
      card.className = "game-score";
      card.dataset.office = office.name;
      const title = document.createElement("h3");
      title.textContent = `The ${office.name} office`;
      card.append(title, drawn(office, found, most));
      if (rounds) card.append(paragraph(inWords(found)));
      card.append(paragraph(rules.sentence(found, office.bounds[most - 1], state.plan)));
      card.append(paragraph(promise(office, most)));
      return card;
    }));
  }

  /* --- a strategy ------------------------------------------------------------------------------------- */

  function showStrategy() {
    one("threshold-shown").textContent = signed(Number(one("threshold").value));
    one("asks-shown").textContent = one("asks").value;
  }

  function playStrategy() {
    const office = state.office, threshold = Number(one("threshold").value);
    const rounds = Number(one("rounds").value), asks = Number(one("asks").value);
    const answers = office.fresh ? asks : 1, place = data.thresholds.indexOf(threshold);
    const found = rules.score(rules.play(office, state.seed, rounds, asks, threshold), rounds);
    const rates = office.rates[answers - 1], best = Math.max(...rates);
    const title = document.createElement("h3");
    title.textContent = `The ${office.name} office, t = ${signed(threshold)}, ${counted(asks, "answer")} a round`;
    const exact = `Exactly, this rule is right in ${percent(rates[place])} of all rounds; ` +
      `the best t, such as ${signed(data.thresholds[rates.indexOf(best)])}, in ${percent(best)}.`;
    one("outcome").replaceChildren(
      title,
      drawn(office, found, answers),
      paragraph(inWords(found)),
      paragraph(rules.sentence(found, office.bounds[answers - 1], rounds)),
      paragraph(exact + (office.fresh || asks === 1 ? "" : " All answers were the same.")),
    );
  }

  /* --- the page --------------------------------------------------------------------------------------- */

  function options(select, values) {
    select.replaceChildren(...values.map((value) => new Option(String(value), value)));
  }

  function build() {
    options(one("plan"), data.plans);
    options(one("rounds"), data.rounds);
    one("rounds").value = data.rounds[1];
    const last = data.thresholds.length - 1;
    Object.assign(one("threshold"), { min: data.thresholds[0], max: data.thresholds[last], step: 0.5, value: 2 });
    Object.assign(one("asks"), { max: mostAsks, value: 1 });
    for (const office of data.offices) {
      const label = document.createElement("label"), radio = document.createElement("input");
      Object.assign(radio, { type: "radio", name: "game-office", value: office.name });
      const name = document.createElement("strong");
      name.textContent = `The ${office.name} office`;
      label.append(radio, " ", name, ` ${office.says}.`);
      one("offices").append(label);
    }
    for (const place of document.querySelectorAll("#game [data-fill]")) {
      place.textContent = percent(data[place.dataset.fill]);
    }
    one("all").hidden = false;
  }

  function listen() {
    one("setup").addEventListener("submit", (event) => {
      event.preventDefault();
      state.seed = whole(one("seed").value, data.seed);
      state.plan = Number(one("plan").value);
      start();
    });
    one("next-seed").addEventListener("click", () => {
      state.seed = (state.seed + 1) % 2 ** 32;
      state.plan = Number(one("plan").value);
      start();
    });
    one("offices").addEventListener("change", (event) => {
      state.office = data.offices.find((office) => office.name === event.target.value);
      one("status").textContent = "";
      one("outcome").replaceChildren();
      writeAddress();
      showRound();
    });
    one("strategy").addEventListener("input", showStrategy);
    one("strategy").addEventListener("submit", (event) => {
      event.preventDefault();
      playStrategy();
    });
    const actions = { a: () => ask(1), t: () => ask(10), i: () => guess(true), n: () => guess(false) };
    one("ask").addEventListener("click", actions.a);
    one("ask-ten").addEventListener("click", actions.t);
    one("ill").addEventListener("click", actions.i);
    one("well").addEventListener("click", actions.n);
    document.getElementById("game").addEventListener("keydown", (event) => {
      const typing = event.target.matches("select, input[type=number]");
      if (typing || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
      const action = actions[event.key.toLowerCase()];
      if (action) {
        event.preventDefault();
        action();
      }
    });
    window.addEventListener("hashchange", () => {
      if (!location.hash.includes("seed=")) return; // a link to a heading
      readAddress();
      start();
    });
  }

  build();
  listen();
  readAddress();
  start();
})(DifferencingGame);
