/* The symmetric lookup table nearest to the noise: symmetric.lookup_table and chain.nearest of tablebuilder_dp,
   where the proofs stand, with the same ties broken the same way. Needs explorer-numbers.js. */
const explorerSymmetric = (function () {
  "use strict";

  const { floorDiv, rational, decide, inUnits, exp } = explorerNumbers;

  const SCALE = 1n << 64n; // targets are given in so small parts of a key
  const FIRST = 1n << 160n; // above every sum of squares of weights: they only break ties of the distance
  const FULL = SCALE * FIRST; // what a whole key of distance costs
  const NEVER = 1n << 320n;
  const STATES_MAX = 300000; // a search with more states would make the page wait; the command takes 10^7

  const smaller = (a, b) => (a < b ? a : b);
  const larger = (a, b) => (a > b ? a : b);
  const clipped = (value, low, high) => smaller(larger(value, low), high);
  const size = (a) => (a < 0n ? -a : a);
  const sum = (values) => values.reduce((a, b) => a + b, 0n);

  // --- Rows of weights whose neighbours stay within a factor e^ε ------------------------------

  const powers = new Map(); // e^±ε of the ε at hand

  function power(epsilon, bits) {
    const name = `${epsilon.n}/${epsilon.d}@${bits}`;
    if (!powers.has(name)) {
      if (powers.size > 16) powers.clear();
      powers.set(name, inUnits(exp(epsilon, bits + 64), bits));
    }
    return powers.get(name);
  }

  /** ⌊e^ε·weight⌋, which is irrational before the floor; ε may be negative. */
  function reach(weight, epsilon) {
    return decide((bits) => {
      const { lo, hi } = power(epsilon, bits);
      const low = (weight * lo) >> BigInt(bits);
      return low === (weight * hi) >> BigInt(bits) ? low : undefined;
    });
  }

  /** t₀ = ⌈1/(e^ε − 1)⌉, the smallest weight that may have a larger neighbour. */
  function leastGrowing(epsilon) {
    return decide((bits) => {
      const { lo, hi } = power(epsilon, bits);
      const one = 1n << BigInt(bits);
      if (lo <= one) return undefined;
      const low = one * one / (hi - one) >> BigInt(bits);
      return low === one * one / (lo - one) >> BigInt(bits) ? low + 1n : undefined;
    });
  }

  /** w(0), …, w(steps) that rise inwards from `end` as fast as e^ε lets them, none above `most`. */
  function steepest(end, steps, epsilon, most) {
    const row = [end];
    for (let i = 0; i < steps; i += 1) row.unshift(smaller(reach(row[0], epsilon), most));
    return row;
  }

  const total = (row) => 2n * sum(row) - row[0];

  /** The least w(D) of a symmetric table. */
  function leastEnd(epsilon, support, keysize) {
    let [low, high] = [1n, keysize];
    while (low < high) {
      const middle = (low + high) >> 1n;
      if (total(steepest(middle, support, epsilon, keysize)) >= keysize) high = middle;
      else low = middle + 1n;
    }
    return low;
  }

  /** The symmetric table nearest to the noise among those that keep ε, and δ if any can, as its `half` w(0), …, w(D).

      Where there is none, `allowed` says which KEYSIZE has one; `half` is null where the search grows too large. */
  function table({ epsilon, keysize }, noise) {
    const { support } = noise;
    const values = BigInt(2 * support + 1);
    const least = leastGrowing(epsilon);
    if (keysize % values && keysize < values * least) {
      return { allowed: { values, least: values * least } };
    }
    let end = leastEnd(epsilon, support, keysize);
    if (end < least) return { half: Array(support + 1).fill(end) }; // all weights are equal
    const targets = Array.from({ length: support + 1 }, (_, z) => scaledMass(noise, z, keysize));
    end = larger(end, targets[support] / SCALE);
    const highest = steepest(end, support, epsilon, keysize);
    return { half: nearest({ targets, keys: keysize, epsilon, least, highest }) };
  }

  /** ⌊KEYSIZE·SCALE·p(z)⌋. */
  function scaledMass(noise, z, keysize) {
    return decide((bits) => {
      const { low, high } = noise.weights(bits);
      const all = noise.total(bits);
      const found = (keysize * SCALE * low[z]) / all.hi;
      return found === (keysize * SCALE * high[z]) / all.lo ? found : undefined;
    });
  }

  // --- The nearest row, and the proof that no other is as near ---------------------------------

  function nearest(problem) {
    problem.rounded = problem.targets.map((target) => (2n * target + SCALE) / (2n * SCALE));
    problem.floors = problem.targets.map((target) => target / SCALE);
    problem.onFloors = problem.floors.map((floor, z) => // what the step up from the floor costs
      FULL - 2n * (problem.targets[z] - floor * SCALE) * FIRST + 2n * (floor - problem.rounded[z]) + 1n);
    const price = priceOf(problem);
    const centre = cheapest(problem, price);
    const loss = lossesOf(problem, price, centre);
    const missing = problem.keys - total(centre);
    let [window, drift] = [2, 4];
    while (centre.length * (2 * window + 1) * (2 * drift + 1) <= STATES_MAX) {
      const found = within(problem, centre, loss, window, drift);
      const lost = found ? sum(found.map((weight, z) => loss(z, weight))) : NEVER;
      const drifts = lost >= leastDrifting(centre, loss, drift, missing);
      if (!drifts && lost < leastOutside(centre, loss, window, missing)) return found;
      if (drifts) drift *= 2;
      if (!found || !drifts) window *= 2;
    }
    return null;
  }

  /** What the weight w costs at z beyond the centre's, for both sides of the table. */
  function lossesOf({ targets, rounded, least, highest }, price, centre) {
    const cost = (z, weight) =>
      size(weight * SCALE - targets[z]) * FIRST + (weight - rounded[z]) ** 2n - price * weight;
    const base = centre.map((weight, z) => cost(z, weight));
    return (z, weight) => {
      if (weight < least || weight > highest[z]) return NEVER;
      return (z ? 2n : 1n) * (cost(z, weight) - base[z]);
    };
  }

  /** For each z the smallest weight of least cost when a key earns the price. */
  function cheapest({ rounded, floors, onFloors, least, highest }, price) {
    const [below, above] = [(price + FULL) >> 1n, (price - FULL) >> 1n];
    return floors.map((floor, z) => {
      let weight = rounded[z] + below;
      if (weight >= floor) weight = onFloors[z] >= price ? floor : larger(floor + 1n, rounded[z] + above);
      return clipped(weight, least, highest[z]);
    });
  }

  /** The largest price, of those that can matter, at which the cheapest weights do not exceed the total. */
  function priceOf(problem) {
    let high = FULL + 4n * problem.keys;
    let low = -high;
    while (low < high) {
      const middle = (low + high + 1n) >> 1n;
      if (total(cheapest(problem, middle)) > problem.keys) high = middle - 1n;
      else low = middle;
    }
    return low;
  }

  /** The row of least loss whose weights and partial sums stay near the centre's; null if there is none. */
  function within({ keys, epsilon }, centre, loss, window, drift) {
    const [last, width, sums] = [centre.length - 1, 2 * window + 1, 2 * drift + 1];
    const most = Math.min(window, drift);
    const empty = () => Array.from({ length: width }, () => Array(sums).fill(NEVER));
    const backwards = rational(-epsilon.n, epsilon.d);

    let costs = empty(); // by w(z) and the partial sum, less the centre's
    for (let step = -most; step <= most; step += 1) {
      costs[step + window][step + drift] = loss(last, centre[last] + BigInt(step));
    }

    /** The first place of the window at z that may stand beside `weight`, and the last plus one. */
    function beside(weight, z) {
      const start = centre[z] - BigInt(window);
      return [backwards, epsilon].map((level) => Number(clipped(reach(weight, level) + 1n - start, 0n, BigInt(width))));
    }

    /** The least cost among the rows from low to high in each column, and the first row that has it. */
    function leastOf(low, high) {
      const least = costs[low].slice();
      const where = Array(sums).fill(low);
      for (let row = low + 1; row < high; row += 1) {
        for (let column = 0; column < sums; column += 1) {
          if (costs[row][column] < least[column]) {
            least[column] = costs[row][column];
            where[column] = row;
          }
        }
      }
      return { least, where };
    }

    const choices = [];
    for (let z = last - 1; z >= 1; z -= 1) {
      const inner = empty();
      const chosen = Array.from({ length: width }, () => Array(sums).fill(0));
      const best = new Map();
      for (let step = -most; step <= most; step += 1) {
        const weight = centre[z] + BigInt(step);
        const paid = loss(z, weight);
        const [low, high] = paid < NEVER ? beside(weight, z + 1) : [0, 0];
        if (low === high) continue;
        const name = low * (width + 1) + high;
        if (!best.has(name)) best.set(name, leastOf(low, high));
        const { least, where } = best.get(name);
        for (let to = Math.max(step, 0); to < sums + Math.min(step, 0); to += 1) {
          if (least[to - step] < NEVER) {
            inner[step + window][to] = least[to - step] + paid;
            chosen[step + window][to] = where[to - step];
          }
        }
      }
      costs = inner;
      choices.push(chosen);
    }

    let [lost, row, place, column] = [NEVER, null, 0, 0];
    for (let at = 0; at < sums; at += 1) { // the largest w(0) first
      const middle = keys - 2n * (sum(centre.slice(1)) + BigInt(at - drift));
      const paid = loss(0, middle);
      const [low, high] = paid < NEVER ? beside(middle, 1) : [0, 0];
      for (let i = low; i < high; i += 1) {
        if (costs[i][at] + paid < lost) [lost, row, place, column] = [costs[i][at] + paid, [middle], i, at];
      }
    }
    for (let z = 1; row && z <= last; z += 1) {
      row.push(centre[z] + BigInt(place - window));
      if (z < last) [place, column] = [choices[last - 1 - z][place][column], column - (place - window)];
    }
    return row;
  }

  /** What a row with `missing` keys more than the centre loses if a weight is outside the window. */
  function leastOutside(centre, loss, window, missing) {
    let least = null;
    for (const side of [-1n, 1n]) {
      const back = leastMoving(centre, loss, -side, BigInt(2 * (window + 1)) - side * missing);
      for (let z = 1; z < centre.length; z += 1) {
        const found = loss(z, centre[z] + side * BigInt(window + 1)) + back;
        least = least === null ? found : smaller(least, found);
      }
    }
    return least;
  }

  /** What such a row loses at least if one of its partial sums strays by more than `drift`. */
  function leastDrifting(centre, loss, drift, missing) {
    const keys = BigInt(2 * (drift + 1));
    const [down, up] = [-1n, 1n].map((side) =>
      leastMoving(centre, loss, side, keys) + leastMoving(centre, loss, -side, keys - side * missing));
    return smaller(down, up);
  }

  /** What a row loses at least if it moves this many keys up (or down) from the centre's weights. */
  function leastMoving(centre, loss, sign, keys) {
    const marginal = [];
    centre.forEach((weight, z) => {
      const steps = larger(z ? (keys + 1n) >> 1n : keys, 0n);
      let less = loss(z, weight);
      for (let step = 1n; step <= steps && less < NEVER; step += 1n) {
        const more = loss(z, weight + sign * step);
        if (more >= NEVER) break;
        if (z) marginal.push(more - less, more - less);
        else marginal.push(2n * (more - less));
        less = more;
      }
    });
    if (BigInt(marginal.length) < keys) return NEVER;
    marginal.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    return floorDiv(sum(marginal.slice(0, Math.max(Number(keys), 0))), 2n);
  }

  return { reach, table };
})();
