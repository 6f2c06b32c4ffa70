"""How a page looks: its style sheet."""

from fixfirst.view.palette import variables

STYLE = (
    variables()
    + """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);
 font:16px/1.55 system-ui,"Segoe UI",Helvetica,Arial,"DejaVu Sans",sans-serif}
main,header,footer{max-width:70rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2rem}
a{color:var(--measured)}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:.5rem;background:var(--ground);padding:.3rem .6rem}
:focus-visible{outline:3px solid var(--gate);outline-offset:2px}
h1,h2,h3{line-height:1.2;text-wrap:balance;overflow-wrap:anywhere}
.kicker{margin:0;color:var(--muted);font-size:.9rem;overflow-wrap:anywhere}
h1{font-size:clamp(1.8rem,5vw,2.9rem);margin:.35rem 0 .6rem;letter-spacing:-.015em}
h2{font-size:1.35rem;margin:2.6rem 0 .8rem;padding-top:.9rem;border-top:1px solid var(--rule)}
h3{font-size:1.05rem;margin:0 0 .5rem}
p{margin:.5rem 0;overflow-wrap:anywhere}
.answer{font-size:1.12rem;max-width:48rem}
.setting,.note{color:var(--muted);font-size:.93rem;max-width:52rem}
.state{display:inline-block;padding:.05rem .6rem;border-radius:1rem;border:1px solid currentColor;
 font-weight:600;font-size:.85rem}
.finished{color:var(--best)}.running{color:var(--measured)}.stopped{color:var(--gate)}
.damaged{color:var(--failed)}
ol.order{list-style:none;display:flex;flex-wrap:wrap;gap:.4rem .5rem;margin:.8rem 0;padding:0}
ol.order li{background:var(--raised);border:1px solid var(--rule);border-radius:.4rem;
 padding:.2rem .65rem;font-weight:600;max-width:100%;overflow-wrap:anywhere}
ol.order li span{color:var(--muted);font-weight:400;margin-right:.45rem}
ol.order li:first-child{background:var(--best);border-color:var(--best);color:var(--ground)}
ol.order li:first-child span{color:inherit}
dl.glance{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.8rem;
 margin:1.4rem 0}
dl.glance div{background:var(--raised);border-radius:.5rem;padding:.65rem .85rem}
dl.glance dt{color:var(--muted);font-size:.85rem}
dl.glance dd{margin:0;font-size:1.22rem;font-weight:600;font-variant-numeric:tabular-nums}
dl.glance small{display:block;color:var(--muted);font-weight:400;font-size:.82rem}
.plots{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:2.2rem 2.4rem}
figure{margin:0;min-width:0;grid-column:1/-1}
figure.half{grid-column:auto}
figure svg{display:block;width:100%;height:auto;overflow:visible}
figure.half svg{max-width:34rem}
figcaption{color:var(--muted);font-size:.9rem;margin-top:.5rem;max-width:52rem}
.narrow{display:none!important}
.scroll{overflow-x:auto;max-height:36rem;overflow-y:auto;border:1px solid var(--rule);
 border-radius:.4rem}
table{border-collapse:collapse;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--muted);padding:.5rem .7rem}
th,td{padding:.35rem .7rem;text-align:right;border-bottom:1px solid var(--rule);
 vertical-align:top;white-space:nowrap}
.words{text-align:left}
td.long{white-space:normal;min-width:34rem;overflow-wrap:anywhere}
thead th{position:sticky;top:0;background:var(--raised);color:var(--muted);font-weight:600}
thead button{all:unset;cursor:pointer;box-sizing:border-box}
thead button:focus-visible{outline:3px solid var(--gate);outline-offset:2px}
thead button::after{content:"\\2195";opacity:.45;margin-left:.3em}
th[aria-sort=ascending] button::after{content:"\\2191";opacity:1}
th[aria-sort=descending] button::after{content:"\\2193";opacity:1}
tr.failed td,tr.failed th{color:var(--failed)}
tr.best td,tr.best th{font-weight:700}
.filter{margin:.2rem 0 .7rem;display:flex;gap:.6rem;align-items:center;flex-wrap:wrap}
.filter input{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--muted);
 border-radius:.3rem;padding:.25rem .5rem;max-width:100%;width:22rem}
table.plain{width:auto;max-width:100%}
table.plain th,table.plain td{white-space:normal;text-align:left;overflow-wrap:anywhere}
table.plain th{font-weight:600;min-width:10.5rem}
pre{background:var(--raised);border-radius:.4rem;padding:.8rem 1rem;font-size:.85rem;
 overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}
code{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
dl.legend dt{font-weight:600;margin-top:.6rem}dl.legend dd{margin:0;max-width:52rem}
footer{color:var(--muted);font-size:.88rem;padding-top:1.5rem;padding-bottom:3rem}
#hint{position:fixed;z-index:9;pointer-events:none;max-width:min(22rem,90vw);font-size:.85rem;
 background:var(--ink);color:var(--ground);padding:.3rem .6rem;border-radius:.35rem;
 overflow-wrap:anywhere}
@media (max-width:46rem){
 main,header,footer{padding-left:1rem;padding-right:1rem}
 .plots{grid-template-columns:minmax(0,1fr)}
 figure.half{grid-column:1/-1}
 .wide{display:none!important}.narrow{display:block!important}
 dl.glance{grid-template-columns:repeat(2,minmax(0,1fr))}
 .sortable th,.sortable td{padding:.3rem .45rem}
 .sortable td.words{white-space:normal;min-width:8.5rem}
 table.plain th,table.plain td{padding:.3rem .5rem .3rem 0}
}
@media print{
 body{font-size:10.5pt}
 main,header,footer{max-width:none;padding:0}
 .filter,.skip,thead button::after{display:none}
 .scroll{max-height:none;overflow:visible;border:0}
 thead{display:table-row-group}thead th{position:static}
 .sortable td.words{min-width:9.5rem}.sortable td.long{min-width:0}
 th,td{padding:.15rem .35rem;white-space:normal;font-size:8pt}
 figure,tr{break-inside:avoid}h2,h3{break-after:avoid}
}
"""
)

# A table can be sorted by its columns and searched, and hints show at once, not after a wait.
# Without scripts the tables are whole, and hints are those of the browser.
SCRIPT = """
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = row => {
        const cell = row.cells[column];
        return "value" in cell.dataset ? Number(cell.dataset.value || "NaN") : cell.textContent;
      };
      const missing = value => Number.isNaN(value);
      const rows = [...body.rows].map(row => [key(row), row]);
      rows.sort(([a], [b]) => {
        if (missing(a) || missing(b)) return missing(a) - missing(b);
        const way = typeof a === "number" ? a - b : a.localeCompare(b);
        return down ? -way : way;
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}
for (const box of document.querySelectorAll(".filter")) {
  const input = box.querySelector("input"), count = box.querySelector("output");
  const rows = [...document.getElementById(input.getAttribute("aria-controls")).tBodies[0].rows];
  box.hidden = false;
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase().split(/\\s*[>,]\\s*|\\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      let from = 0;
      const fits = wanted.every(word => {
        const at = text.indexOf(word, from);
        from = at + word.length;
        return at >= 0;
      });
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length}`;
  });
}
const hint = document.createElement("div");
hint.id = "hint";
hint.hidden = true;
document.body.append(hint);
for (const title of document.querySelectorAll("figure svg g > title")) {
  const mark = title.parentNode, text = title.textContent;
  title.remove();
  mark.addEventListener("pointerenter", event => {
    hint.textContent = text;
    hint.hidden = false;
    const room = hint.getBoundingClientRect();
    hint.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - room.width - 4))}px`;
    hint.style.top = `${Math.max(4, event.clientY - room.height - 12)}px`;
  });
  mark.addEventListener("pointerleave", () => { hint.hidden = true; });
}
"""
