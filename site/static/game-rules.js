/* The rules of the differencing game, as in src/compendium/studies/game.py: a seed gives the same game in both. What
   is said of a score is chosen as in game_words.py there. Needs words.js. */
const DifferencingGame = (function () {
  "use strict";

  const { words: data, say } = pageWords;

  const GOLDEN = 0x9e3779b9;
  const COIN = 0, OTHERS = 1, ANSWERS = 2; // what a round draws; from then on the keys of its answers

  function mixed(word) {
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return (word ^ (word >>> 15)) >>> 0;
  }

  function draw(seed, stream, number, slot) {
    let state = seed;
    for (const word of [0, stream, number, slot]) state = mixed((state + Math.imul(word, GOLDEN)) | 0);
    return state;
  }

  /* A key stands for the smallest noise whose cut point is above it. */
  function noise(office, key) {
    let low = 0, high = office.cuts.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (key < office.cuts[middle]) high = middle; else low = middle + 1;
    }
    return low - office.support;
  }

  function deal(office, number, seed, asks, byHand) {
    const stream = data.offices.indexOf(office) + (byHand ? 0 : data.offices.length);
    const others = office.least + Math.floor(draw(seed, stream, number, OTHERS) * 100 / 2 ** 32);
    const present = draw(seed, stream, number, COIN) >= 2 ** 31;
    const differences = [];
    for (let ask = 0; ask < asks; ask++) {
      const key = draw(seed, stream, number, ANSWERS + (office.fresh ? ask : 0));
      differences.push((present ? 1 : 0) + noise(office, key));
    }
    return { others, present, differences };
  }

  function sum(values) {
    return values.reduce((total, value) => total + value, 0);
  }

  /* In how many of these rounds is it right to guess "counted" from a mean difference of at least t? */
  function play(office, seed, rounds, asks, threshold) {
    const terms = office.fresh ? asks : 1;
    let right = 0;
    for (let number = 0; number < rounds; number++) {
      const dealt = deal(office, number, seed, terms, false);
      if ((sum(dealt.differences) >= threshold * terms) === dealt.present) right++;
    }
    return right;
  }

  /* P(X >= right) for a binomial X of rate p below right/rounds, where terms fall from the first on. */
  function tail(right, rounds, logChoose, p) {
    let term = Math.exp(logChoose + right * Math.log(p) + (rounds - right) * Math.log1p(-p));
    let total = term;
    for (let i = right; i < rounds && term > total * 1e-17; i++) {
      term *= (rounds - i) / (i + 1) * p / (1 - p);
      total += term;
    }
    return total;
  }

  function lower(right, rounds) {
    if (right === 0) return 0;
    let logChoose = 0;
    for (let i = 1; i <= right; i++) logChoose += Math.log((rounds - right + i) / i);
    let low = 0, high = right / rounds;
    for (let step = 0; step < 60; step++) {
      const middle = (low + high) / 2;
      if (tail(right, rounds, logChoose, middle) < 0.025) low = middle; else high = middle;
    }
    return low;
  }

  /* The exact 95% interval of Clopper and Pearson. */
  function score(right, rounds) {
    if (!rounds) return { rounds: 0, right: 0, rate: 0.5, low: 0, high: 1 };
    return { rounds, right, rate: right / rounds, low: lower(right, rounds), high: 1 - lower(rounds - right, rounds) };
  }

  function percent(share) {
    return (Math.floor(1000 * share + 0.5) / 10).toFixed(1) + "%";
  }

  function signed(value) {
    return (value < 0 ? "−" : value > 0 ? "+" : "") + String(Math.abs(value));
  }

  /* The mean to hundredths, ties away from 0. */
  function mean(differences) {
    const total = sum(differences), count = differences.length;
    return signed(Math.sign(total) * Math.floor((200 * Math.abs(total) + count) / (2 * count)) / 100);
  }

  function sentence(found, bound, plan) {
    if (!found.rounds) return say("nothing_played");
    const coin = found.low > 0.5 ? "better" : found.high < 0.5 ? "worse" : "coin";
    const side = found.high < bound ? "below" : found.low > bound ? "above" : "contains";
    const kinds = (found.rounds < plan ? ["partly"] : []).concat(coin, bound === 1 ? "nothing" : side);
    const values = { rounds: found.rounds, plan, bound: percent(bound) };
    return kinds.map((kind) => say(kind, values)).join(" ");
  }

  /* A score on a line from 0 to 100%, beside the best possible rate and the bound. */
  function bar(found, bound, best) {
    const shares = { low: found.low, high: found.high, rate: found.rate, best, bound };
    const values = {};
    for (const name of Object.keys(shares)) values[name + "_share"] = percent(shares[name]);
    const label = say(found.rounds ? "line_score" : "line", values);
    for (const name of Object.keys(shares)) {
      values[name] = (10 + 300 * shares[name]).toFixed(1);
      values[name + "_anchor"] = shares[name] > 0.7 ? "end" : "middle";
    }
    return say("bar", { ...values, label, shown: found.rounds > 0 ? 1 : 0 });
  }

  return { data, draw, noise, deal, play, score, percent, signed, mean, sentence, bar };
})();
