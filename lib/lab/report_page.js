// SPDX-License-Identifier: BSD-3-Clause
// Draws the page from top to bottom.

const MOST_EVENTS = 500;

function drawHead() {
    const names = reports.map(r => r.name).join(", "), r = reports[0];
    document.title = names + " \u2013 sluice-lab";
    at("title").textContent = compared ? reports.length + " topologies compared" : names;
    at("subtitle").textContent = compared ? names : `sluice-lab: ${r.nodes.length} nodes, ${r.hosts.length} hosts, ${r.links.length} links; seed ${r.seed}`;
}
/* A click shows the time around the event in all plots. */
function drawEvents() {
    const all = events(), panel = html("div", at("events"), undefined, "panel"), t = html("table", html("div", panel, undefined, "scroll")), head = html("tr", html("thead", t));
    html("div", panel, all.length > MOST_EVENTS ? `The first ${MOST_EVENTS} of ${count(all.length)} events; the CSV of the plot above has all.` : all.length ? "" : "None.", "note");
    if (!all.length) return;
    for (const h of ["from, ms", "where", "what", "for"]) html("th", head, h, h === "where" || h === "what" ? "text" : "");
    const body = html("tbody", t);
    for (const [ms, name, what, length] of all.slice(0, MOST_EVENTS)) {
        const row = html("tr", body), around = Math.max(length || 0, END / 200);
        html("td", row, ms.toFixed(6));
        html("td", row, name, "text");
        html("td", row, what, "text");
        html("td", row, length === undefined ? "" : time(Math.round(length * 1e6)));
        row.title = "Zoom all plots to this event";
        row.addEventListener("click", () => setView(Math.max(0, ms - around * 0.3), Math.min(END, ms + around * 1.3)));
    }
}
drawHead();
drawBar();
drawTiles();
drawBroken();
reports.forEach(drawTopology);
if (compared) drawVariants();
drawReceivers();
drawFlows();
drawLosses();
const grouped = groups();
drawPauses();
drawSeries(grouped);
drawBuffers(grouped);
drawPercentiles();
drawEvents();
drawCommands();
at("all-csv").addEventListener("click", () => save(reports.map(r => r.name).join("-").slice(0, 80) + ".csv", "text/csv", csvOfAll()));
document.body.dataset.drawn = "yes";
