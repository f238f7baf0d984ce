// Situations to begin with. Each makes points in the square from -1 to 1 from a size and a noise.

import { placed } from "./state.js";

/** Random numbers that are the same for the same seed. */
function random(seed) {
  let s = seed >>> 0;
  const uniform = () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}

const tau = 2 * Math.PI;
const linear = { kernel: "linear" };
const gaussian = (gamma) => ({ kernel: "rbf", gamma });

export const PRESETS = {
  separable: {
    name: "separable, with many lines",
    suggest: linear,
    make: (n, noise, r) => many(n, (i) => {
      const label = i % 2, side = label ? 1 : -1;
      const gap = Math.max(0.02, 0.22 - 0.2 * noise);
      const along = 1.5 * (r.uniform() - 0.5), away = gap + 0.5 * r.uniform();
      return [side * away * 0.8 + along * 0.6, side * away * 0.6 - along * 0.8, label];
    }),
  },
  outlier: {
    name: "one outlier",
    suggest: linear,
    make: (n, noise, r) => many(n, (i) => {
      if (i === n - 1) return [0.05 + 0.3 * noise, -0.1, 0];
      const label = i % 2, side = label ? 0.5 : -0.5;
      return [side + 0.14 * r.normal(), side * 0.6 + 0.18 * r.normal(), label];
    }),
  },
  overlap: {
    name: "overlapping classes",
    suggest: gaussian("scale"),
    make: (n, noise, r) => many(n, (i) => {
      const label = i % 2, side = label ? 0.3 : -0.3, spread = 0.12 + 0.5 * noise;
      return [side + spread * r.normal(), side + spread * r.normal(), label];
    }),
  },
  three: {
    name: "three classes",
    suggest: gaussian("scale"),
    make: (n, noise, r) => many(n, (i) => {
      const label = i % 3, angle = tau * (label / 3 + 0.25), spread = 0.1 + 0.4 * noise;
      return [
        0.45 * Math.cos(angle) + spread * r.normal(), 0.45 * Math.sin(angle) + spread * r.normal(),
        label,
      ];
    }),
  },
  banana: {
    name: "banana",
    suggest: gaussian(4),
    make: (n, noise, r) => many(n, (i) => {
      const label = i % 2, angle = Math.PI * r.uniform(), spread = 0.04 + 0.3 * noise;
      const x = label ? 0.3 - 0.6 * Math.cos(angle) : -0.3 + 0.6 * Math.cos(angle);
      const y = label ? 0.15 - 0.6 * Math.sin(angle) : -0.15 + 0.6 * Math.sin(angle);
      return [x + spread * r.normal(), y + spread * r.normal(), label];
    }),
  },
  xor: {
    name: "exclusive or",
    suggest: { kernel: "poly", degree: 2, gamma: "auto" },
    make: (n, noise, r) => many(n, (i) => {
      const corner = i % 4, sx = corner & 1 ? 1 : -1, sy = corner & 2 ? 1 : -1;
      const spread = 0.1 + 0.4 * noise;
      return [0.5 * sx + spread * r.normal(), 0.5 * sy + spread * r.normal(), sx * sy > 0 ? 1 : 0];
    }),
  },
  rings: {
    name: "rings",
    suggest: gaussian(4),
    make: (n, noise, r) => many(n, (i) => {
      const label = i % 2, angle = tau * r.uniform();
      const radius = (label ? 0.75 : 0.3) + (0.03 + 0.25 * noise) * r.normal();
      return [radius * Math.cos(angle), radius * Math.sin(angle), label];
    }),
  },
  spirals: {
    name: "spirals",
    suggest: gaussian(20),
    make: (n, noise, r) => many(n, (i) => {
      const label = i % 2, t = 0.12 + 0.88 * Math.sqrt(r.uniform());
      const angle = 1.6 * tau * t + Math.PI * label, spread = 0.12 * noise;
      return [
        0.9 * t * Math.cos(angle) + spread * r.normal(),
        0.9 * t * Math.sin(angle) + spread * r.normal(), label,
      ];
    }),
  },
  letters: {
    name: "letters of noise",
    suggest: gaussian(20),
    make: (n, noise, r) => many(n, (i) => {
      const strokes = i % 2 ? LETTER_M : LETTER_L;
      const [x1, y1, x2, y2] = strokes[Math.floor(r.uniform() * strokes.length)];
      const t = r.uniform(), spread = 0.02 + 0.2 * noise;
      return [x1 + t * (x2 - x1) + spread * r.normal(), y1 + t * (y2 - y1) + spread * r.normal(),
        i % 2];
    }),
  },
  drift: {
    name: "a drifting stream",
    suggest: gaussian(4),
    make: (n, noise, r) => many(n, (i) => {
      const label = i % 2, angle = Math.PI * (i / n) + Math.PI * label;
      const spread = 0.08 + 0.3 * noise;
      return [0.5 * Math.cos(angle) + spread * r.normal(), 0.5 * Math.sin(angle) + spread * r.normal(),
        label];
    }),
  },
};

const LETTER_L = [[-0.75, 0.7, -0.75, -0.6], [-0.75, 0.7, -0.75, -0.6], [-0.75, -0.6, -0.15, -0.6]];
const LETTER_M = [
  [0.05, -0.6, 0.05, 0.7], [0.05, 0.7, 0.4, 0], [0.4, 0, 0.75, 0.7], [0.75, 0.7, 0.75, -0.6],
];

function many(n, make) {
  return Array.from({ length: n }, (_, i) => placed(...make(i)));
}

export const presetPoints = (name, size, noise) =>
  PRESETS[name].make(size, noise, random(size * 7 + name.length));
