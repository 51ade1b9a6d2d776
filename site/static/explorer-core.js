/* What follows from the explorer's settings: the smallest support, the noise, its plateau, the lookup table
   and what the table keeps of the promise. The same as compendium.studies.explorer, to the last digit: see there,
   and tablebuilder_dp for the mathematics and its proofs. Needs words.js, explorer-numbers.js and
   explorer-symmetric.js. */
const explorerCore = (function () {
  "use strict";

  const { ceilDiv, rational, compare, toNumber, decimal, decide, inUnits, log, exp, text, certainText } =
    explorerNumbers;

  const { words, fill, say } = pageWords;
  const { fields } = words;
  const TINY = decimal(words.tiny); // a positive number below it is refused, as by the library
  const STEPS = 150; // a curve has this many steps of ε/100

  /** Settings that have no answer; `fields` are those to change. */
  class Refusal extends Error {
    constructor(message, ...fields) {
      super(message);
      this.fields = fields;
    }
  }

  // --- What may be typed ----------------------------------------------------------------------

  function readNumber(typed, { low, high }) {
    const value = typed.length <= words.characters ? decimal(typed) : null;
    if (value && !isTiny(value) && compare(decimal(low), value) <= 0 && compare(value, decimal(high)) <= 0) return value;
    return undefined;
  }

  const isTiny = (value) => value.n > 0n && compare(value, TINY) < 0;

  /** How to write a number that was not understood. */
  function hint(typed) {
    if (typed.length > words.characters) return say("too_long", words);
    if (typed.includes(",")) return say("comma");
    const value = decimal(typed);
    if (!value) return say("write_like");
    return isTiny(value) ? say("too_tiny", words) : "";
  }

  function readSupport(typed, { low, high }) {
    if (typed === "auto") return null;
    const support = /^\+?\d{1,30}$/.test(typed) ? Number(typed) : 0;
    return support >= Number(low) && support <= Number(high) ? support : undefined;
  }

  function wholeNumber(typed) {
    const power = /^(\d{1,2})(?:\^|\*\*)(\d{1,2})$/.exec(typed);
    const plain = /^\+?(\d{1,30})$/.exec(typed);
    return power ? BigInt(power[1]) ** BigInt(power[2]) : plain ? BigInt(plain[1]) : 0n;
  }

  function readKeysize(typed, { low, high }) {
    const keysize = wholeNumber(typed);
    return keysize >= wholeNumber(low) && keysize <= wholeNumber(high) ? keysize : undefined;
  }

  const readRule = (typed, { choices }) => (Object.hasOwn(choices, typed) ? typed : undefined);

  const READERS = {
    epsilon: readNumber, delta: readNumber, support: readSupport,
    slack: readNumber, keysize: readKeysize, rule: readRule,
  };

  /** The settings behind the typed texts, and a sentence for each text that is refused. */
  function read(texts) {
    const settings = { typed: {} };
    const refused = {};
    for (const [name, reader] of Object.entries(READERS)) {
      const typed = String(texts[name] ?? fields[name].default).trim();
      settings.typed[name] = typed;
      settings[name] = reader(typed, fields[name]);
      if (settings[name] !== undefined) continue;
      const more = reader === readNumber ? hint(typed) : "";
      refused[name] = `${fill(fields[name].refused, fields[name])} ${more}`.trim();
    }
    return { settings, refused };
  }

  // --- The noise C·exp(−γz²) on [−D, D] -------------------------------------------------------

  /** γ = (1 − slack)·ε/(2D−1) + slack·ε/(2D+1), Proposition 3 with a slack. */
  function gammaOf({ epsilon, slack }, support) {
    const [inner, outer] = [BigInt(2 * support - 1), BigInt(2 * support + 1)];
    const n = epsilon.n * ((slack.d - slack.n) * outer + slack.n * inner);
    return rational(n, epsilon.d * slack.d * inner * outer);
  }

  const scaled = (factor, { n, d }) => ({ n: BigInt(factor) * n, d });

  /** A noise whose weights w(z) = exp(−γz²), 0 ≤ z ≤ D, are enclosed at any precision. */
  function noiseOf(support, gamma) {
    const kept = new Map();

    /** w(z+1) = w(z)·r(z) and r(z+1) = r(z)·e^−2γ; every product is rounded down, or up. */
    function weights(bits) {
      if (kept.has(bits)) return kept.get(bits);
      const unit = BigInt(bits);
      const first = inUnits(exp(scaled(-1, gamma), bits), bits);
      const step = inUnits(exp(scaled(-2, gamma), bits), bits);
      const side = (ratio, factor, up) => {
        let weight = 1n << unit;
        const found = [weight];
        for (let z = 0; z < support; z += 1) {
          weight = (weight * ratio + up) >> unit;
          ratio = (ratio * factor + up) >> unit;
          found.push(weight);
        }
        return found;
      };
      const found = { low: side(first.lo, step.lo, 0n), high: side(first.hi, step.hi, (1n << unit) - 1n) };
      kept.set(bits, found);
      return found;
    }

    /** Σ w(z) over [−D, D] in units of 2^−bits, from below and from above. */
    function total(bits) {
      const { low, high } = weights(bits);
      const sum = (side) => 2n * side.reduce((a, b) => a + b) - side[0];
      return { lo: sum(low), hi: sum(high), bits };
    }

    /** p(D), between two rationals. */
    function edge(bits) {
      const weight = exp(scaled(-support * support, gamma), bits);
      const all = total(bits);
      const [up, down] = [BigInt(bits), BigInt(weight.bits)];
      return [
        { n: weight.lo << up, d: all.hi << down },
        { n: weight.hi << up, d: all.lo << down },
      ];
    }

    function variance(bits) {
      const { low, high } = weights(bits);
      const all = total(bits);
      const second = (side) => 2n * side.reduce((sum, weight, z) => sum + BigInt(z * z) * weight, 0n);
      return [{ n: second(low), d: all.hi }, { n: second(high), d: all.lo }];
    }

    return { support, gamma, weights, total, edge, variance };
  }

  /** Decide p(D) ≤ δ; the two are never equal. */
  function reaches(noise, delta) {
    return decide((bits) => {
      const [low, high] = noise.edge(bits);
      if (compare(high, delta) <= 0) return true;
      return compare(low, delta) > 0 ? false : undefined;
    });
  }

  /** D*, the smallest support whose δ is within the wanted one: float64 proposes, enclosures prove. */
  function bestSupport(settings) {
    const target = Math.log(toNumber(settings.delta));
    const proposes = (support) => {
      const gamma = toNumber(gammaOf(settings, support));
      let sum = 0;
      for (let z = support; z >= 1; z -= 1) sum += Math.exp(-gamma * z * z);
      return -gamma * support * support - Math.log1p(2 * sum) <= target;
    };
    const proves = (support) => reaches(noiseOf(support, gammaOf(settings, support)), settings.delta);
    let high = 1;
    while (!proposes(high)) high *= 2;
    let low = Math.floor(high / 2) + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (proposes(middle)) high = middle;
      else low = middle + 1;
    }
    while (!proves(low)) low += 1;
    while (low > 1 && proves(low - 1)) low -= 1;
    return low;
  }

  // --- The lookup table -----------------------------------------------------------------------

  /** ⌈KEYSIZE·P(Z ≤ z)⌉ for z = −D, …, D. With z < D it is no integer, and so lies in [1, KEYSIZE]. */
  function ceilingCuts(noise, keysize) {
    return decide((bits) => {
      const { low, high } = noise.weights(bits);
      const all = noise.total(bits);
      const cuts = [];
      let [least, most] = [0n, 0n];
      for (let z = -noise.support; z < noise.support; z += 1) {
        least += low[Math.abs(z)];
        most += high[Math.abs(z)];
        const [cut, other] = [ceilDiv(keysize * least, all.hi) || 1n, ceilDiv(keysize * most, all.lo)];
        if (cut < other && cut < keysize) return undefined;
        cuts.push(cut);
      }
      return [...cuts, keysize];
    });
  }

  const differences = (cuts) => cuts.map((cut, i) => cut - (i ? cuts[i - 1] : 0n));

  function cutsOf(settings, noise) {
    if (settings.rule === "ceiling") return ceilingCuts(noise, settings.keysize);
    const { half, allowed } = explorerSymmetric.table(settings, noise);
    if (allowed) throw new Refusal(say("keys_for_symmetric", allowed), "keysize", "rule");
    if (!half) {
      const further = say("searches_further", { command: command(settings, noise.support) });
      throw new Refusal(`${say("search")} ${further}`, "rule");
    }
    let reach = 0n;
    return [...half.slice(1).reverse(), ...half].map((weight) => (reach += weight));
  }

  // --- What the table keeps -------------------------------------------------------------------

  /** KEYSIZE·δ of the table at ε is ours − e^ε·theirs: the larger of both directions. */
  function excessOf(weights, epsilon) {
    const [later, earlier] = [[...weights, 0n], [0n, ...weights]];
    const [forward, backward] = [[later, earlier], [earlier, later]].map(([p, q]) => {
      let [ours, theirs] = [0n, 0n];
      p.forEach((a, i) => {
        if (a > (q[i] ? explorerSymmetric.reach(q[i], epsilon) : 0n)) {
          ours += a;
          theirs += q[i];
        }
      });
      return { ours, theirs };
    });
    const difference = { ours: backward.ours - forward.ours, theirs: backward.theirs - forward.theirs };
    return isAbove(difference, rational(0n), epsilon) ? backward : forward;
  }

  /** Decide ours − e^ε·theirs > bound; e^ε is irrational, so only theirs = 0 allows equality. */
  function isAbove({ ours, theirs }, bound, epsilon) {
    if (theirs === 0n) return ours * bound.d > bound.n;
    const rest = { n: ours * bound.d - bound.n, d: bound.d }; // compared with e^ε·theirs
    return decide((bits) => {
      const [low, high] = times(theirs, exp(epsilon, bits));
      if (compare(rest, low) <= 0) return false;
      return compare(rest, high) > 0 ? true : undefined;
    });
  }

  /** factor·enclosure, between two rationals. */
  function times(factor, { lo, hi, bits }) {
    const ends = [factor * lo, factor * hi].map((n) => ({ n, d: 1n << BigInt(bits) }));
    return factor < 0n ? ends.reverse() : ends;
  }

  /** The table's δ at ε, between two rationals. */
  function tableDelta(excess, keysize, epsilon, bits) {
    const ends = times(excess.theirs, exp(epsilon, bits));
    return ends.reverse().map(({ n, d }) => ({ n: excess.ours * d - n, d: keysize * d }));
  }

  /** Decide whether the table's δ at ε is at most the noise's own; they are never equal. */
  function keepsNoise(excess, keysize, epsilon, noise) {
    return decide((bits) => {
      const [low, high] = tableDelta(excess, keysize, epsilon, bits);
      const [least, most] = noise.edge(bits);
      if (compare(high, least) <= 0) return true;
      return compare(low, most) > 0 ? false : undefined;
    });
  }

  /** The largest ratio of a weight to its neighbour, at least 1; null where that is infinite. */
  function largestRatio(pairs) {
    let largest = rational(1n);
    for (const [a, b] of pairs) {
      if (a && !b) return null;
      if (b && a * largest.d > largest.n * b) largest = { n: a, d: b };
    }
    return largest;
  }

  /** The smallest t = e^ε ≥ 1 with Σ max(0, p − t·q) ≤ allowed, in keys; null where that is infinite. */
  function smallestGrowth(p, q, allowed) {
    let spare = allowed;
    p.forEach((a, i) => { if (!q[i]) spare -= a; });
    if (spare < 0n) return null;
    const ratios = p.map((a, i) => ({ n: a, d: q[i] })).filter(({ d }) => d);
    ratios.sort((a, b) => compare(b, a));
    let solution = rational(1n);
    let [above, below] = [-spare, 0n];
    for (const ratio of ratios) {
      if (compare(ratio, solution) <= 0) break;
      above += ratio.n;
      below += ratio.d;
      solution = above > below ? { n: above, d: below } : rational(1n);
    }
    return solution;
  }

  function logarithmText(ratio) {
    if (!ratio) return "∞";
    if (ratio.n <= ratio.d) return "0";
    return certainText((bits) => times(1n, log(ratio, bits)));
  }

  /** Whole numbers that rise, those in a row as one range. */
  function ranges(values) {
    const found = [];
    for (const value of values) {
      const last = found[found.length - 1];
      if (last && last[1] === value - 1) last[1] = value;
      else found.push([value, value]);
    }
    return found.map(([a, b]) => (a === b ? `${a}` : `${a} to ${b}`)).join(", ") || "none";
  }

  /** The settings as typed, with D and KEYSIZE written out: some shells read ^ and ** their own way. */
  const whole = ({ typed, keysize }, support) => ({ ...typed, keysize, support });

  /** The command that makes the same table. */
  const command = (settings, support) => say("command", whole(settings, support));

  // --- Everything -----------------------------------------------------------------------------

  /** Everything that follows from the settings of `read`; a Refusal where there is no answer. */
  function explore(settings) {
    const { epsilon, delta, keysize } = settings;
    const best = bestSupport(settings);
    const { high } = fields.support;
    if (settings.support === null && best > Number(high)) {
      throw new Refusal(say("support_beyond", { best, high }), "epsilon", "delta");
    }
    const support = settings.support ?? best;
    const noise = noiseOf(support, gammaOf(settings, support));
    const cuts = cutsOf(settings, noise);
    const weights = differences(cuts);
    const lost = weights.map((weight, i) => (weight ? null : i - support)).filter((z) => z !== null);

    const moment = (power) => weights.reduce((sum, w, i) => sum + BigInt((i - support) ** power) * w, 0n);
    const [mean, square] = [moment(1), moment(2)];
    const ends = weights[0] > weights[2 * support] ? weights[0] : weights[2 * support];
    const rises = weights.slice(1).map((weight, i) => [weight, weights[i]]);
    const falls = rises.map(([later, earlier]) => [earlier, later]);
    const [later, earlier] = [[...weights, 0n], [0n, ...weights]];
    const growths = [smallestGrowth(later, earlier, ends), smallestGrowth(earlier, later, ends)];
    const largest = growths.includes(null) ? null : growths[compare(growths[0], growths[1]) < 0 ? 1 : 0];

    const excess = excessOf(weights, epsilon);
    const twoSided = largestRatio([...rises, ...falls]);
    const onset = rational(noise.gamma.n * BigInt(2 * support - 1), noise.gamma.d);
    return {
      settings, support, cuts, weights, lost,
      noiseKeeps: reaches(noise, delta),
      tableKeeps: !isAbove(excess, { n: delta.n * keysize, d: delta.d }, epsilon),
      tableKeepsNoise: keepsNoise(excess, keysize, epsilon, noise),
      keepsEpsilon: twoSided && !isAbove({ ours: twoSided.n, theirs: twoSided.d }, rational(0n), epsilon),
      numbers: {
        best_support: String(best),
        support: String(support),
        gamma: text(noise.gamma),
        variance: certainText(noise.variance),
        delta: certainText(noise.edge),
        plateau_onset: text(onset),
        keysize: String(keysize),
        lost: String(lost.length),
        lost_values: ranges(lost),
        bias: text({ n: mean, d: keysize }),
        variance_table: text({ n: square * keysize - mean * mean, d: keysize * keysize }),
        delta_q: text({ n: ends, d: keysize }),
        delta_table: certainText((bits) => tableDelta(excess, keysize, epsilon, bits)),
        epsilon_one_sided: logarithmText(largestRatio(rises)),
        epsilon_two_sided: logarithmText(twoSided),
        epsilon_smallest: logarithmText(largest),
      },
      pmf: pmfOf(noise),
      onset: toNumber(onset),
      epsilon: toNumber(epsilon),
      delta: toNumber(delta),
    };
  }

  // --- Pictures, in float64 -------------------------------------------------------------------

  /** p(−D), …, p(D). */
  function pmfOf({ support, gamma }) {
    const rate = toNumber(gamma);
    const half = Array.from({ length: support + 1 }, (_, z) => Math.exp(-rate * z * z));
    const all = 2 * half.reduceRight((sum, weight) => sum + weight) - 1;
    return Array.from({ length: 2 * support + 1 }, (_, i) => half[Math.abs(i - support)] / all);
  }

  /** The larger of Σ max(0, p − e^ε·q) and its mirror image for a pmf beside itself shifted by one. */
  function hockeyStick(masses, epsilon) {
    const [later, earlier] = [[...masses, 0], [0, ...masses]];
    const oneWay = (p, q) => p.reduce((sum, mass, i) => {
      if (!(mass > 0)) return sum;
      const excess = q[i] > 0 ? epsilon + Math.log(q[i] / mass) : -Infinity;
      return sum - mass * Math.expm1(Math.min(excess, 0));
    }, 0);
    return Math.max(oneWay(later, earlier), oneWay(earlier, later));
  }

  /** δ of the noise and of its table, for ε from 0 to 3/2 of the wanted one. */
  function curve(explored) {
    const levels = Array.from({ length: STEPS + 1 }, (_, step) => (step * explored.epsilon) / 100);
    const keysize = Number(explored.settings.keysize);
    const shares = explored.weights.map((weight) => Number(weight) / keysize);
    return {
      epsilon: levels,
      noise: levels.map((level) => hockeyStick(explored.pmf, level)),
      table: levels.map((level) => hockeyStick(shares, level)),
    };
  }

  /** The lookup table: the noise, how many keys give it, and the cut that its keys stay below. */
  function csv({ support, cuts, weights }) {
    return "noise,keys,cut\n" + cuts.map((cut, i) => `${i - support},${weights[i]},${cut}\n`).join("");
  }

  return { Refusal, read, explore, curve, csv, whole, command };
})();
