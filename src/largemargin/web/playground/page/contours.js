// Lines on which a function on a grid has a value, by marching squares; and reading a grid.

/** The numbers of an answer: `problems` grids of side x side, from the lower left corner. */
export function unpacked(text, problems, side) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const numbers = new Float32Array(bytes.buffer);
  const cells = side * side;
  return Array.from({ length: problems }, (_, k) => numbers.subarray(k * cells, (k + 1) * cells));
}

/** By how much each class leads over the best other one; of one grid f: -f and f. */
export function leadsOf(grids) {
  if (grids.length === 1) return [grids[0].map((value) => -value), grids[0]];
  return grids.map((own, k) => own.map((value, i) => {
    let other = -Infinity;
    for (let j = 0; j < grids.length; j++) if (j !== k && grids[j][i] > other) other = grids[j][i];
    return value - other;
  }));
}

/** Segments [x1, y1, x2, y2] in the unit square on which `grid` is `level`. */
export function contour(grid, side, level) {
  const segments = [];
  const step = 1 / (side - 1);
  for (let row = 0; row < side - 1; row++) {
    for (let column = 0; column < side - 1; column++) {
      const at = row * side + column;
      const a = grid[at] - level, b = grid[at + 1] - level;
      const c = grid[at + side + 1] - level, d = grid[at + side] - level;
      const kind = (a > 0) + 2 * (b > 0) + 4 * (c > 0) + 8 * (d > 0);
      if (kind === 0 || kind === 15) continue;
      const x = column * step, y = row * step;
      const crossed = [];
      if ((a > 0) !== (b > 0)) crossed.push([x + step * a / (a - b), y]);
      if ((b > 0) !== (c > 0)) crossed.push([x + step, y + step * b / (b - c)]);
      if ((c > 0) !== (d > 0)) crossed.push([x + step * d / (d - c), y + step]);
      if ((d > 0) !== (a > 0)) crossed.push([x, y + step * a / (a - d)]);
      if (crossed.length === 2) segments.push([...crossed[0], ...crossed[1]]);
      else if (crossed.length === 4) {
        // a saddle: the middle says which corners belong together
        const [s, e, n, w] = crossed;
        const joined = (a + b + c + d > 0) === (a > 0);
        segments.push(joined ? [...s, ...e] : [...s, ...w], joined ? [...n, ...w] : [...n, ...e]);
      }
    }
  }
  return segments;
}

/** The place on some segments nearest to (x, y), or null. */
export function nearestOn(segments, x, y) {
  let best = null, least = Infinity;
  for (const [x1, y1, x2, y2] of segments) {
    const dx = x2 - x1, dy = y2 - y1;
    const along = ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1);
    const t = Math.min(1, Math.max(0, along));
    const px = x1 + t * dx, py = y1 + t * dy;
    const distance = (px - x) ** 2 + (py - y) ** 2;
    if (distance < least) [best, least] = [[px, py], distance];
  }
  return best;
}

/** The value of a grid between its points, x and y from 0 to 1. */
export function between(grid, side, x, y) {
  const column = Math.min(side - 2, Math.floor(x * (side - 1)));
  const row = Math.min(side - 2, Math.floor(y * (side - 1)));
  const u = x * (side - 1) - column, v = y * (side - 1) - row;
  const at = row * side + column;
  return (1 - v) * ((1 - u) * grid[at] + u * grid[at + 1])
    + v * ((1 - u) * grid[at + side] + u * grid[at + side + 1]);
}
