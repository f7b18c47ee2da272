// Each anomaly: its sentence, and its transactions on a circle with the dependencies as arrows.
const main = document.getElementById("cycles");
const make = (name, where, text) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  where.append(element);
  return element;
};
const draw = (name, where, attributes, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  where.append(element);
  return element;
};
data.forEach((anomaly, number) => {
  const section = make("section", main);
  make("h2", section, anomaly.title);
  make("p", section, anomaly.text);
  const count = anomaly.nodes.length, radius = count < 2 ? 0 : Math.max(70, 24 * count), wide = 1000, high = 2 * radius + 60;
  const svg = draw("svg", section, { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high });
  const defs = draw("defs", svg, {});
  const marker = draw("marker", defs, { id: "head" + number, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" });
  draw("path", marker, { d: "M0 0 8 4 0 8z", fill: "var(--badedge)" });
  const place = new Map(anomaly.nodes.map(([id], at) => {
    const angle = 2 * Math.PI * at / count - Math.PI / 2;
    return [id, [radius + 40 + radius * Math.cos(angle), radius + 30 + radius * Math.sin(angle)]];
  }));
  for (const [from, to, kind, text] of anomaly.edges) {
    const [x, y] = place.get(from), [u, v] = place.get(to), length = Math.hypot(u - x, v - y) || 1;
    // Two arrows between the same two transactions stand side by side.
    const dx = (u - x) / length, dy = (v - y) / length, ox = -5 * dy, oy = 5 * dx;
    const line = draw("line", svg, { x1: x + 16 * dx + ox, y1: y + 16 * dy + oy, x2: u - 16 * dx + ox, y2: v - 16 * dy + oy, "marker-end": `url(#head${number})` });
    draw("title", line, {}, text);
    draw("text", svg, { class: "kind", x: (x + u) / 2 + 3 * ox, y: (y + v) / 2 + 3 * oy }, kind);
  }
  for (const [id, words] of anomaly.nodes) {
    const [x, y] = place.get(id);
    draw("circle", svg, { cx: x, cy: y, r: 14 });
    draw("text", svg, { x: x + 20, y: y - 10 }, `T${id}: ${words}`);
  }
});
