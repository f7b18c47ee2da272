// `data` is the number of steps; what each of them is about carries its number.
const all = (selector) => [...document.querySelectorAll(selector)];
const rows = all("#steps tr[data-at]"), lines = all("#source tr[data-row]"), drawn = all("svg [data-at]");
const picture = document.querySelector("svg");
let now = data - 1;
function visible(element) { if (element) element.scrollIntoView({ block: "nearest", inline: "nearest" }); }
function go(step) {
  now = Math.max(0, Math.min(data - 1, step));
  for (const row of rows) {
    row.classList.toggle("now", +row.dataset.at === now);
    row.classList.toggle("later", +row.dataset.at > now);
  }
  for (const line of lines) line.classList.remove("now");
  for (const part of drawn) {
    part.classList.toggle("now", +part.dataset.at === now);
    part.classList.toggle("later", +part.dataset.at > now);
  }
  const row = rows[now], line = row && row.dataset.line !== undefined ? lines[+row.dataset.line] : undefined;
  if (line) line.classList.add("now");
  visible(row); visible(line);
  document.getElementById("where").textContent = data ? (now + 1) + " of " + data : "";
}
const keys = { ArrowLeft: () => now - 1, ArrowUp: () => now - 1, ArrowRight: () => now + 1, ArrowDown: () => now + 1, Home: () => 0, End: () => data - 1 };
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || !(event.key in keys)) return;
  event.preventDefault();
  go(keys[event.key]());
});
for (const [id, key] of [["first", "Home"], ["back", "ArrowLeft"], ["on", "ArrowRight"], ["last", "End"]])
  document.getElementById(id).addEventListener("click", () => go(keys[key]()));
for (const part of [...rows, ...all("svg g[data-at]")]) part.addEventListener("click", () => go(+part.dataset.at));
const words = { rf: "rf: reads from", co: "co: order of writes (mo)", fr: "fr: before a newer write", sw: "sw: synchronises", hb: "hb: happens before", race: "race" };
for (const name of Object.keys(words)) {
  if (!document.querySelector("path.edge." + name)) continue;
  const label = document.createElement("label"), box = document.createElement("input");
  box.type = "checkbox";
  box.checked = true;
  box.addEventListener("change", () => picture.classList.toggle("no-" + name, !box.checked));
  label.append(box, " " + words[name]);
  label.style.color = "var(--" + (name === "race" ? "badedge" : name) + ")";
  document.getElementById("legend").append(label);
}
go(now);
