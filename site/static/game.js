/* The page of the differencing game: reads the address, shows rounds, keeps the score. */
(function (rules) {
  "use strict";

  const { data, percent, signed } = rules;
  const { say } = pageWords;
  const { fields } = data;
  const one = (id) => document.getElementById("game-" + id);
  const most = fields.asks.high;
  const state = { seed: fields.seed.default, plan: fields.plan.default, office: data.offices[0], scores: {} };

  /* --- the address ------------------------------------------------------------------------------------ */

  function whole(text, fallback) {
    const value = Number(text);
    return /^\d+$/.test(text || "") && value <= fields.seed.high ? value : fallback;
  }

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    state.seed = whole(given.get("seed"), fields.seed.default);
    const plan = whole(given.get("plan"), fields.plan.default);
    state.plan = fields.plan.choices.includes(plan) ? plan : fields.plan.default;
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
    const over = complete(), { asked, rounds } = played();
    const { others, differences } = dealt();
    const last = differences[differences.length - 1];
    const values = { office: state.office.name, number: rounds + 1, plan: state.plan };
    one("title").textContent = say(over ? "over" : "round", values);
    one("others").textContent = over ? say("none") : others;
    one("published").textContent = over ? say("none") : others + last;
    one("difference").textContent = over ? say("none") : signed(last);
    one("answers").textContent = over ? say("choose") : answers(asked, differences);
    one("ask").disabled = one("ask-ten").disabled = over || asked >= most;
    one("ill").disabled = one("well").disabled = over;
  }

  function answers(asked, differences) {
    if (asked === 1) return say("asked_once");
    if (!state.office.fresh) return say("asked_same", { asked });
    const listed = differences.map(signed).join(" ");
    return say("asked_fresh", { asked, differences: listed, mean: rules.mean(differences) });
  }

  function ask(count) {
    if (complete()) return;
    const score = played();
    score.asked = Math.min(score.asked + count, most);
    showRound();
    const values = { asked: score.asked, published: one("published").textContent };
    const said = say(state.office.fresh ? "answer_fresh" : "answer_same", values);
    one("status").textContent = score.asked < most ? said : `${said} ${say("no_more", { most })}`;
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
    const said = say(ill === present ? "right" : "wrong", { state: say(present ? "ill" : "well") });
    const now = { number: score.rounds + 1, others: one("others").textContent, published: one("published").textContent };
    one("status").textContent = `${said} ${complete() ? say("all_played", { plan: state.plan }) : say("now", now)}`;
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

  function inWords({ right, rounds, rate, low, high }) {
    return say("score", { right, rounds, rate: percent(rate), low: percent(low), high: percent(high) });
  }

  function promise(office, asks) {
    const delta = office.deltas[asks - 1];
    const kind = delta === "1" ? "promise_none" : office.fresh ? "promise_fresh" : "promise_same";
    return say(kind, { asks, pair: say("pair", { epsilon: office.epsilon, delta }) });
  }

  function showScores() {
    one("scores").replaceChildren(...data.offices.map((office) => {
      const { rounds, right, most } = state.scores[office.name];
      const found = rules.score(right, rounds);
      const card = document.createElement("section");
      card.className = "game-score";
      card.dataset.office = office.name;
      const title = document.createElement("h3");
      title.textContent = say("office", { office: office.name });
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
    const answers = office.fresh ? asks : 1, rates = office.rates[answers - 1], best = Math.max(...rates);
    const found = rules.score(rules.play(office, state.seed, rounds, asks, threshold), rounds);
    const title = document.createElement("h3");
    title.textContent = say("strategy_title", { office: office.name, threshold: signed(threshold), asks });
    const exactly = say("exactly", {
      rate: percent(rates[data.thresholds.indexOf(threshold)]),
      best: signed(data.thresholds[rates.indexOf(best)]),
      best_rate: percent(best),
    });
    one("outcome").replaceChildren(
      title,
      drawn(office, found, answers),
      paragraph(inWords(found)),
      paragraph(rules.sentence(found, office.bounds[answers - 1], rounds)),
      paragraph(answers === asks ? exactly : `${exactly} ${say("all_same")}`),
    );
  }

  /* --- the page --------------------------------------------------------------------------------------- */

  function listen() {
    one("setup").addEventListener("submit", (event) => {
      event.preventDefault();
      state.seed = whole(one("seed").value, fields.seed.default);
      state.plan = Number(one("plan").value);
      start();
    });
    one("next-seed").addEventListener("click", () => {
      state.seed = (state.seed + 1) % (fields.seed.high + 1);
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

  one("all").hidden = false;
  listen();
  readAddress();
  start();
})(DifferencingGame);
