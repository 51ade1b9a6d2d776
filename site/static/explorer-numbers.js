/* Exact numbers for the explorer: rationals, and intervals that contain the truth.

   A rational is {n, d} with BigInts and d > 0. An enclosure {lo, hi, bits} means that the value lies between
   lo/2^bits and hi/2^bits. Every step is rounded outwards, and `decide` raises the precision until the digits,
   the ceiling or the comparison in question is settled, so that float64 never has the last word. */
const explorerNumbers = (function () {
  "use strict";

  const DIGITS = 10; // significant digits of every number shown that is not a whole one
  const MAX_BITS = 1 << 14;
  const GUARD = 32; // bits that exp and log spend on their own rounding

  // --- Whole numbers and rationals ------------------------------------------------------------

  const floorDiv = (a, b) => (a >= 0n ? a / b : -((b - 1n - a) / b)); // b > 0
  const ceilDiv = (a, b) => -floorDiv(-a, b);
  const shiftedUp = (a, bits) => -(-a >> bits); // ⌈a/2^bits⌉, as >> rounds down
  const bitLength = (a) => a.toString(2).length;

  function gcd(a, b) {
    while (b) [a, b] = [b, a % b];
    return a < 0n ? -a : a;
  }

  function rational(n, d = 1n) {
    const common = gcd(n, d);
    return { n: n / common, d: d / common };
  }

  const compare = (a, b) => Number(a.n * b.d > b.n * a.d) - Number(a.n * b.d < b.n * a.d);

  /** The nearest float64, or so; exact numbers too large for float64 are no trouble. */
  function toNumber({ n, d }) {
    const shift = bitLength(n < 0n ? -n : n) - bitLength(d) - 64;
    const scaled = shift > 0 ? n / (d << BigInt(shift)) : (n << BigInt(-shift)) / d;
    return Number(scaled) * 2 ** shift;
  }

  /** "0.1" is one tenth; null if the text is no decimal number of sane size. */
  function decimal(text) {
    const found = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d{1,3}))?$/i.exec(text);
    if (!found || !(found[2] + found[3])) return null;
    const [, sign, whole, part, power = "0"] = found;
    const exponent = BigInt(power) - BigInt(part.length);
    const n = BigInt(sign + "1") * BigInt(whole + part);
    return exponent < 0n ? rational(n, 10n ** -exponent) : rational(n * 10n ** exponent);
  }

  // --- Enclosures -----------------------------------------------------------------------------

  /** Run `compute(bits)` at rising precision until it returns something. */
  function decide(compute) {
    for (let bits = 128; bits <= MAX_BITS; bits *= 2) {
      const found = compute(bits);
      if (found !== undefined) return found;
    }
    throw new RangeError(`no decision at ${MAX_BITS} bits`);
  }

  /** The same enclosure in units of 2^−bits, rounded outwards. */
  function inUnits(value, bits) {
    const shift = BigInt(value.bits - bits);
    if (shift <= 0n) return { lo: value.lo << -shift, hi: value.hi << -shift, bits };
    return { lo: value.lo >> shift, hi: shiftedUp(value.hi, shift), bits };
  }

  /** Σ t^(2i+1)/(2i+1) for 0 ≤ t ≤ 1/3, t a rational, in units of 2^−bits. */
  function atanh(t, bits) {
    const unit = BigInt(bits);
    const side = (divide, shift, last) => {
      let power = divide(t.n << unit, t.d);
      const square = shift(power * power, unit);
      let sum = power;
      for (let i = 3n; power > last; i += 2n) {
        power = shift(power * square, unit);
        sum += divide(power, i);
      }
      return sum;
    };
    const lo = side(floorDiv, (a, b) => a >> b, 0n);
    // Rounded up, powers never fall below 1; those left out add less than one unit, as t² ≤ 1/9.
    return { lo, hi: side(ceilDiv, shiftedUp, 1n) + 1n, bits };
  }

  const logarithmsOfTwo = new Map();

  function ln2(bits) {
    if (!logarithmsOfTwo.has(bits)) {
      const half = atanh({ n: 1n, d: 3n }, bits);
      logarithmsOfTwo.set(bits, { lo: 2n * half.lo, hi: 2n * half.hi, bits });
    }
    return logarithmsOfTwo.get(bits);
  }

  /** The natural logarithm of a rational x ≥ 1: x = y·2^k with 1 ≤ y < 2, and ln y = 2·atanh((y−1)/(y+1)). */
  function log(x, bits) {
    const inner = bits + GUARD;
    let k = bitLength(x.n) - bitLength(x.d);
    if (x.n < x.d << BigInt(k)) k -= 1;
    const scaled = x.d << BigInt(k);
    const half = atanh({ n: x.n - scaled, d: x.n + scaled }, inner);
    const two = ln2(inner);
    const lo = 2n * half.lo + BigInt(k) * two.lo;
    const hi = 2n * half.hi + BigInt(k) * two.hi;
    return inUnits({ lo, hi, bits: inner }, bits);
  }

  /** e^x of a rational x, to about `bits` bits of its own size: x = r + k·ln 2 with a small r ≥ 0. */
  function exp(x, bits) {
    const inner = bits + GUARD;
    const unit = BigInt(inner);
    const k = Math.floor(toNumber(x) / Math.LN2 - 1e-6);
    const two = ln2(inner);
    const [least, most] = k < 0 ? [two.hi, two.lo] : [two.lo, two.hi];
    const lo = floorDiv(x.n << unit, x.d) - BigInt(k) * most;
    const hi = ceilDiv(x.n << unit, x.d) - BigInt(k) * least;
    if (lo < 0n || hi >> unit) throw new RangeError("exp was reduced wrongly");

    let term = 1n << unit;
    let below = term;
    for (let n = 1n; term > 0n; n += 1n) {
      term = ((term * lo) >> unit) / n;
      below += term;
    }
    term = 1n << unit;
    let above = term;
    for (let n = 1n; term > 1n || n < 4n; n += 1n) {
      term = ceilDiv(term * hi, n << unit);
      above += term;
    }
    above += 1n; // the terms left out: each is below a quarter of the one before, the first below 1/4
    return inUnits({ lo: below, hi: above, bits: inner - k }, bits - Math.min(k, 0));
  }

  // --- Texts ----------------------------------------------------------------------------------

  function rounded(n, d) {
    const quotient = n / d;
    const twice = 2n * (n % d);
    return quotient + BigInt(twice > d || (twice === d && quotient % 2n === 1n));
  }

  /** Ten significant digits, half to even: plain from 1e-4 to 1e6, else with an exponent. */
  function text({ n, d }) {
    if (n === 0n) return "0";
    const sign = n < 0n ? "-" : "";
    const size = n < 0n ? -n : n;
    const scale = (power) => {
      const shift = BigInt(DIGITS - 1 - power);
      return shift < 0n ? rounded(size, d * 10n ** -shift) : rounded(size * 10n ** shift, d);
    };
    let power = size.toString().length - d.toString().length;
    if (size * 10n ** BigInt(Math.max(-power, 0)) < d * 10n ** BigInt(Math.max(power, 0))) power -= 1;
    let digits = scale(power).toString();
    if (digits.length > DIGITS) digits = scale((power += 1)).toString();
    if (power < -4 || power >= 6) {
      const exponent = String(Math.abs(power)).padStart(2, "0");
      return `${sign}${digits[0]}.${digits.slice(1)}e${power < 0 ? "-" : "+"}${exponent}`;
    }
    if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
    return `${sign}${digits.slice(0, power + 1)}.${digits.slice(power + 1)}`;
  }

  /** The text of a number that `compute(bits)` encloses between two rationals. */
  function certainText(compute) {
    return decide((bits) => {
      const [low, high] = compute(bits).map(text);
      return low === high ? low : undefined;
    });
  }

  return {
    floorDiv, ceilDiv, rational, compare, toNumber, decimal,
    decide, inUnits, log, exp, text, certainText,
  };
})();
