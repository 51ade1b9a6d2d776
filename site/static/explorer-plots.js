/* The explorer's three pictures, as SVG text drawn to the width that there is; colours come from explorer.css. */
const explorerPlots = (function () {
  "use strict";

  const { say } = pageWords;
  const HEIGHT = 220;
  const MARGIN = { top: 26, right: 16, bottom: 38, left: 52 };
  const DECADES = 6; // a curve that falls further below the wanted δ, or the table's, leaves the picture

  const fixed = (value) => value.toFixed(1);

  /** The multiples of a round step from low to high, about `count` of them. */
  function linearTicks(low, high, count) {
    const raw = (high - low) / count;
    const size = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((factor) => factor * size >= raw) * size;
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) found.push(i * step);
    return found.map((value) => [value, String(Number(value.toPrecision(6)))]);
  }

  const raised = (power) => "10" + String(power).replace(/[-\d]/g, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] || "⁻");

  /** Powers of ten between two decimal logarithms; where these are fewer than two, finer steps. */
  function logTicks(low, high, count) {
    const step = Math.max(1, Math.ceil((high - low) / count));
    const found = [];
    for (let i = Math.ceil(low / step) * step; i <= high; i += step) found.push([i, raised(i)]);
    if (found.length > 1) return found;
    const finer = (factors) => {
      const ticks = [];
      for (let i = Math.floor(low); i <= high; i += 1) {
        for (const factor of factors) {
          ticks.push([i + Math.log10(factor), i < -3 ? `${factor}e${i}` : String(Number(`${factor}e${i}`))]);
        }
      }
      return ticks.filter(([value]) => low <= value && value <= high);
    };
    const some = finer([1, 2, 5]);
    return some.length > 1 ? some : finer([1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]);
  }

  /** Axes with ticks and labels; what is drawn is clipped to them. */
  function frame(name, width, x, y, described) {
    const [left, right] = [MARGIN.left, width - MARGIN.right];
    const [top, bottom] = [MARGIN.top, HEIGHT - MARGIN.bottom];
    const px = (value) => left + ((value - x.low) / (x.high - x.low)) * (right - left);
    const py = (value) => bottom - ((value - y.low) / (y.high - y.low)) * (bottom - top);
    const across = y.ticks.map(([value, label]) =>
      `<path class="grid" d="M${left} ${fixed(py(value))}H${right}"/>` +
      `<text x="${left - 6}" y="${fixed(py(value) + 4)}" text-anchor="end">${label}</text>`);
    const along = x.ticks.map(([value, label]) =>
      `<path class="axis" d="M${fixed(px(value))} ${bottom}v4"/>` +
      `<text x="${fixed(px(value))}" y="${bottom + 17}" text-anchor="middle">${label}</text>`);
    const svg = (marks) =>
      `<svg viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" role="img" ` +
      `aria-labelledby="explorer-${name}-title explorer-${name}-desc">` +
      `<title id="explorer-${name}-title">${say(`${name}_title`)}</title>` +
      `<desc id="explorer-${name}-desc">${described}</desc>` +
      `<clipPath id="explorer-${name}-clip"><rect x="${left - 4}" y="${top - 6}" width="${right - left + 8}" ` +
      `height="${bottom - top + 6}"/></clipPath>` + across.join("") + along.join("") +
      `<path class="axis" d="M${left} ${bottom}H${right}"/>` +
      `<text x="${(left + right) / 2}" y="${HEIGHT - 4}" text-anchor="middle">${say(`${name}_x`)}</text>` +
      `<text x="4" y="12">${say(`${name}_y`)}</text><g clip-path="url(#explorer-${name}-clip)">${marks.join("")}</g></svg>`;
    return { px, py, left, right, top, bottom, svg };
  }

  const line = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${fixed(x)} ${fixed(y)}`).join("");
  const dots = (points, size) =>
    `<path class="table dots" stroke-width="${size}" d="${points.map(([x, y]) => `M${fixed(x)} ${fixed(y)}h0`).join("")}"/>`;
  const dotSize = (support) => (support <= 30 ? 6 : support <= 100 ? 4 : 2.5);
  const sharesOf = ({ weights, settings }) => weights.map((weight) => Number(weight) / Number(settings.keysize));

  /** p(z) as steps, the table's shares as dots, a cross at each value that is lost. */
  function pmf(explored, width) {
    const { support, lost } = explored;
    const shares = sharesOf(explored);
    const high = 1.08 * Math.max(...explored.pmf, ...shares);
    const { px, py, bottom, svg } = frame(
      "pmf", width,
      { low: -support - 0.5, high: support + 0.5,
        ticks: linearTicks(-support, support, width < 300 ? 4 : 6).filter(([z]) => Number.isInteger(z)) },
      { low: 0, high, ticks: linearTicks(0, high, 5) },
      say("pmf_described", explored.numbers),
    );
    const steps = explored.pmf.map((p, i) =>
      `L${fixed(px(i - support - 0.5))} ${fixed(py(p))}L${fixed(px(i - support + 0.5))} ${fixed(py(p))}`);
    const kept = shares.map((share, i) => [px(i - support), py(share)]).filter((_, i) => explored.weights[i]);
    const cross = support <= 100 ? 4 : 2;
    const crosses = lost.map((z) =>
      `M${fixed(px(z) - cross)} ${bottom - 2 * cross}l${2 * cross} ${2 * cross}m0 ${-2 * cross}l${-2 * cross} ${2 * cross}`);
    return svg([
      `<path class="noise area" d="M${fixed(px(-support - 0.5))} ${bottom}${steps.join("")}V${bottom}Z"/>`,
      dots(kept, dotSize(support)),
      `<path class="lost" d="${crosses.join("")}"/>`,
    ]);
  }

  /** δ over ε of noise and table on a logarithmic scale, the plateau, and the wanted ε and δ. */
  function curve(explored, curves, width) {
    const { epsilon, delta, onset, numbers } = explored;
    const levels = curves.epsilon;
    const last = levels.length - 1;
    const log10 = (value) => (value > 0 ? Math.log10(value) : -400);
    const floor = Math.log10(Math.min(delta, curves.table[last])) - DECADES;
    const height = log10(curves.noise[last]); // the plateau's
    const low = Math.max(Math.min(height, Math.log10(delta), log10(curves.table[last])), floor);
    const high = log10(Math.max(curves.noise[0], curves.table[0], delta));
    const room = Math.max(high - low, 1) * 0.2; // for the plateau's name, below it
    const ends = { low: low - room, high: high + room / 4 };
    const { px, py, left, right, top, bottom, svg } = frame(
      "curve", width,
      { low: 0, high: levels[last], ticks: linearTicks(0, levels[last], width < 300 ? 3 : 5) },
      { ...ends, ticks: logTicks(ends.low, ends.high, 5) },
      say("curve_described", { ...numbers, wanted: explored.settings.typed.delta }),
    );
    const path = (values) => line(values.map((value, i) => [px(levels[i]), py(Math.max(log10(value), ends.low - 9))]));
    const marks = [
      `<path class="wanted" d="M${left} ${fixed(py(Math.log10(delta)))}H${right}"/>`,
      `<path class="wanted" d="M${fixed(px(epsilon))} ${top - 6}V${bottom}"/>`,
      `<path class="noise line" d="${path(curves.noise)}"/>`,
      `<path class="table line" d="${path(curves.table)}"/>`,
    ];
    const inside = height >= ends.low;
    if (inside) {
      const y = py(height);
      marks.push(`<path class="noise plateau" d="M${fixed(px(onset))} ${fixed(y)}H${right}"/>`);
      marks.push(`<circle class="noise start" cx="${fixed(px(onset))}" cy="${fixed(y)}" r="4.5"/>`);
    }
    const place = inside ? py(height) + 18 : bottom - 8;
    const label = say(inside ? "plateau_here" : "plateau_below");
    marks.push(`<text x="${right - 4}" y="${fixed(place)}" text-anchor="end">${label}</text>`);
    return svg(marks);
  }

  /** |ln p(z)/p(z−1)| of noise and table, and the wanted ε that it is to stay below. */
  function ratios(explored, width) {
    const { support, weights, epsilon, numbers } = explored;
    const gamma = explored.onset / (2 * support - 1);
    const losses = weights.slice(1).map((weight, i) => {
      const [a, b] = [Number(weight), Number(weights[i])];
      return a || b ? Math.abs(Math.log(a / b)) : null; // both lost: there is no ratio
    });
    const largest = Math.max(epsilon, ...losses.filter((loss) => loss !== null && loss < 2 * epsilon));
    const high = 1.12 * largest;
    const { px, py, left, right, top, svg } = frame(
      "ratios", width,
      { low: -support, high: support,
        ticks: linearTicks(-support, support, width < 300 ? 4 : 6).filter(([z]) => Number.isInteger(z)) },
      { low: 0, high, ticks: linearTicks(0, high, 5) },
      say("ratios_described", { ...numbers, epsilon: explored.settings.typed.epsilon }),
    );
    const places = losses.map((loss, i) => [px(i - support + 0.5), loss]).filter(([, loss]) => loss !== null);
    const noise = losses.map((_, i) => [px(i - support + 0.5), py(gamma * Math.abs(2 * (i - support) + 1))]);
    const beyond = places.filter(([, loss]) => loss > high).map(([x]) => `M${fixed(x)} ${top - 5}l4 8h-8Z`);
    return svg([
      `<path class="wanted" d="M${left} ${fixed(py(epsilon))}H${right}"/>`,
      `<path class="noise line" d="${line(noise)}"/>`,
      dots(places.filter(([, loss]) => loss <= high).map(([x, loss]) => [x, py(loss)]), dotSize(support)),
      `<path class="beyond" d="${beyond.join("")}"/>`,
    ]);
  }

  return { pmf, curve, ratios };
})();
