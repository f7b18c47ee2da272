// A bar: [lane, call, return or -1, words, mark, point or null, line of call, line of return, key or null]
// A mark: 1 cannot be ordered, 2 had taken effect, 3 its call counts
const { lanes, bars, wrongFrom, keys, about, states } = data;
const canvas = document.getElementById("c"), stage = document.getElementById("stage"), tip = document.getElementById("tip");
const pen = canvas.getContext("2d"), LEFT = 90, ROW = 30, TOP = 26;
let last = 1;
for (const b of bars) last = Math.max(last, b[1] + 1, b[2] + 1);
let byLane = [], shown = bars;
function choose(key) {
  shown = key < 0 ? bars : bars.filter(b => b[8] === key);
  byLane = lanes.map(() => []);
  for (const b of shown) byLane[b[0]].push(b);
  for (const lane of byLane) lane.sort((a, b) => a[1] - b[1]);
}
choose(-1);
const several = (number, word) => number + " " + word + (number === 1 ? "" : "s");
let from = 0, scale = 1, top = 0, width = 0, height = 0;
const end = b => b[2] < 0 ? last + 1 : b[2];
const x = t => LEFT + (t - from) * scale;
const where = document.getElementById("where");
// The value alone, where there is no room for the whole call.
const brief = text => { const found = / = (.*)$/.exec(text) || /\(([^)]+)\)/.exec(text); return found ? found[0].replace(/^\((.*)\)$/, "$1").trim() : text; };
const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function fit(a, b) {
  const room = Math.max(50, width - LEFT - 20);
  scale = Math.min(160, room / Math.max(1, b - a));
  from = a - (room / scale - (b - a)) / 2;
}
function showAll() { fit(0, last + 1); from = 0; draw(); }
// What a person can read at a glance: everything if it is short, the beginning if it is long.
function showStart() { if (last < 150) return showAll(); fit(0, 100); from = 0; draw(); }
function showMarked() {
  let a = Infinity, z = -Infinity, lane = Infinity;
  for (const b of bars) if (b[4]) { a = Math.min(a, b[1]); z = Math.max(z, b[2] < 0 ? b[1] : b[2]); lane = Math.min(lane, b[0]); }
  if (a > z) return showStart();
  const margin = Math.max(2, (z - a) * 0.1);
  fit(a - margin, z + margin);
  from = Math.max(from, -1);
  top = Math.max(0, lane * ROW - 2 * ROW);
  draw();
}
// The first bar of a lane that may reach the left edge: operations of a process do not overlap.
function start(lane, t) {
  let low = 0, high = lane.length;
  while (low < high) { const mid = (low + high) >> 1; if (end(lane[mid]) < t) low = mid + 1; else high = mid; }
  return low;
}
function draw() {
  const ratio = window.devicePixelRatio || 1;
  width = stage.clientWidth; height = stage.clientHeight;
  canvas.width = width * ratio; canvas.height = height * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  const c = { back: color("--back"), ink: color("--ink"), faint: color("--faint"), line: color("--line"), bar: color("--bar"), edge: color("--edge"), bad: color("--bad"), less: color("--less"), badedge: color("--badedge"), dot: color("--dot") };
  pen.font = "12px system-ui, sans-serif"; pen.textBaseline = "middle";
  const least = 70 / scale, ten = Math.pow(10, Math.floor(Math.log10(least)));
  const step = Math.max(1, [1, 2, 5, 10].map(n => n * ten).find(n => n >= least));
  const until = Math.min(last - 1, Math.floor(from + (width - LEFT) / scale));
  where.textContent = "events " + Math.max(0, Math.ceil(from)) + " to " + until + " of " + last + ", " + several(shown.length, "operation");
  pen.fillStyle = c.faint; pen.strokeStyle = c.line; pen.textAlign = "center";
  for (let t = Math.max(0, Math.ceil(from / step) * step); x(t) < width && t <= last; t += step) {
    if (x(t) < LEFT) continue;
    pen.beginPath(); pen.moveTo(x(t), TOP); pen.lineTo(x(t), height); pen.stroke();
    pen.fillText(String(t), x(t), TOP / 2);
  }
  pen.textAlign = "right"; pen.fillText("process", LEFT - 10, TOP / 2);
  pen.save(); pen.beginPath(); pen.rect(0, TOP, width, height - TOP); pen.clip();
  const tags = [];
  for (let l = Math.floor(top / ROW); l < lanes.length; l++) {
    const y = TOP + l * ROW - top;
    if (y > height) break;
    pen.fillStyle = c.faint; pen.textAlign = "right";
    pen.fillText(lanes[l].slice(0, 12), LEFT - 10, y + ROW / 2);
    let drawn = -1;
    pen.textAlign = "left";
    for (let i = start(byLane[l], from); i < byLane[l].length; i++) {
      const b = byLane[l][i], a = Math.max(LEFT, x(b[1])), z = Math.min(width + 5, x(end(b)));
      if (a > width) break;
      if (z < LEFT) continue;
      // Bars thinner than a pixel: one for all of them, unless marked.
      if (z - drawn < 0.7 && !b[4]) continue;
      const w = Math.max(1, z - a);
      pen.fillStyle = b[4] === 1 ? c.bad : b[4] ? c.less : c.bar;
      pen.fillRect(a, y + 5, w, ROW - 10);
      if (w > 4) { pen.strokeStyle = b[4] ? c.badedge : c.edge; pen.setLineDash(b[2] < 0 ? [4, 3] : []); pen.strokeRect(a + 0.5, y + 5.5, w - 1, ROW - 11); pen.setLineDash([]); }
      const label = [b[3], brief(b[3])].find(text => w > 8 && pen.measureText(text).width <= w - 8);
      if (label) { pen.fillStyle = c.ink; pen.fillText(label, a + 5, y + ROW / 2); }
      if (b[4] && label !== b[3]) tags.push([b, a, w, y]);
      if (b[5] !== null && scale > 0.5) {
        pen.fillStyle = c.dot; pen.beginPath(); pen.arc(x(b[5]), y + ROW - 5, Math.min(3.5, 1 + scale / 8), 0, 7); pen.fill();
      }
      drawn = Math.max(drawn, z);
    }
  }
  // Marked operations always say what they are, over whatever is beside them.
  for (const [b, a, w, y] of tags) {
    const size = pen.measureText(b[3]).width + 10, left = a + w + 4 + size < width ? a + w + 4 : a - 4 - size;
    pen.fillStyle = c.back; pen.strokeStyle = c.badedge;
    pen.fillRect(left, y + 6, size, ROW - 12); pen.strokeRect(left + 0.5, y + 6.5, size - 1, ROW - 13);
    pen.fillStyle = c.ink; pen.fillText(b[3], left + 5, y + ROW / 2);
  }
  if (wrongFrom !== null && x(wrongFrom) > LEFT) {
    pen.strokeStyle = c.badedge; pen.setLineDash([2, 3]); pen.beginPath(); pen.moveTo(x(wrongFrom), TOP); pen.lineTo(x(wrongFrom), height); pen.stroke(); pen.setLineDash([]);
  }
  pen.restore();
}
function at(px, py) {
  if (px < LEFT || py < TOP) return null;
  const lane = byLane[Math.floor((py - TOP + top) / ROW)];
  if (!lane) return null;
  const t = from + (px - LEFT) / scale, slack = 2 / scale;
  for (let i = start(lane, t - slack); i < lane.length && lane[i][1] <= t + slack; i++) if (end(lane[i]) >= t - slack) return lane[i];
  return null;
}
canvas.addEventListener("wheel", e => {
  e.preventDefault();
  if (e.shiftKey) { top = Math.max(0, Math.min(lanes.length * ROW, top + e.deltaY + e.deltaX)); return draw(); }
  const t = from + (e.offsetX - LEFT) / scale;
  scale = Math.min(400, Math.max((width - LEFT) / (4 * last + 10), scale * Math.exp(-e.deltaY / 400)));
  from = t - (e.offsetX - LEFT) / scale;
  draw();
}, { passive: false });
let grip = null;
canvas.addEventListener("pointerdown", e => { grip = [e.clientX, e.clientY, from, top]; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener("pointerup", () => { grip = null; });
canvas.addEventListener("pointermove", e => {
  if (grip) { from = grip[2] - (e.clientX - grip[0]) / scale; top = Math.max(0, grip[3] - (e.clientY - grip[1])); draw(); }
  const b = at(e.offsetX, e.offsetY);
  tip.style.display = b ? "block" : "none";
  if (b) {
    const lines = b[6] ? (b[7] ? "\nlines " + b[6] + " and " + b[7] : "\nline " + b[6]) : "";
    tip.textContent = b[3] + "\nprocess " + lanes[b[0]] + ", events " + b[1] + " to " + (b[2] < 0 ? "(never returned)" : b[2]) + lines + (b[8] === null ? "" : "\nkey " + keys[b[8]]) + ["", "\ncannot be ordered", "\nhad taken effect", "\nits call counts: it may have taken effect at any time after, or never"][b[4]];
    tip.style.left = Math.min(e.offsetX + 14, width - tip.offsetWidth - 6) + "px";
    tip.style.top = Math.min(e.offsetY + 16, height - tip.offsetHeight - 6) + "px";
  }
});
const list = document.getElementById("states"), picker = document.getElementById("key");
for (const state of states) { const item = document.createElement("li"); item.textContent = state; list.append(item); }
list.hidden = !states.length;
if (keys.length > 1) {
  picker.hidden = false;
  picker.append(new Option("all " + keys.length + " keys", -1));
  keys.forEach((key, number) => picker.append(new Option(key, number, number === about, number === about)));
  if (about !== null) choose(about);
  picker.onchange = () => { choose(Number(picker.value)); draw(); };
}
document.getElementById("all").onclick = showAll;
document.getElementById("bad").onclick = showMarked;
document.getElementById("bad").hidden = !bars.some(b => b[4]);
addEventListener("resize", draw);
draw(); showMarked();
