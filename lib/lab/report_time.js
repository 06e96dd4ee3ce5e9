// SPDX-License-Identifier: BSD-3-Clause
// One time axis for all plots: zoom, cursor, marks of events. Tracks: intervals in which something was paused, stalled or down.

const KINDS = {
    "stalled": {colour: "#e69f00", text: "takes nothing", band: true},
    "link down": {colour: "#b3261e", text: "link down", band: true},
    "node down": {colour: "#6a3d9a", text: "restarts", band: true},
    "xoff": {colour: "#f5831f", text: "XOFF sent"},
    "gate": {colour: "#1f6fb4", text: "paused"},
    "storm": {colour: "#000000", text: "watchdog discards", band: true},
    "loss": {colour: "#b3261e", text: "loses packets", help: "packets of a lossless class were lost between these times"},
    "command": {colour: "#37474f", text: "command, reload"},
};
const marked = new Set(["stalled", "link down", "node down", "storm", "command"]);   /* kinds that all plots show */
const charts = [];    /* uPlot objects on the time axis */
const view = {min: 0, max: END};

/* All tracks: {report, variant, kind, place, intervals: [[from ms, to ms, share that is covered, number of intervals]...]} */
const tracks = reports.flatMap((r, variant) => ((r.tracks && r.tracks.tracks) || []).filter(t => t.intervals.length).map(t => {
    const place = t.place + (t.port === undefined ? "" : "." + t.port);
    const sliced = t.slice !== undefined && r.tracks.tracks.some(o => o.place === t.place && o.slice > 0);
    const name = place + (t.class === undefined ? "" : " class " + t.class) + (sliced ? " slice " + t.slice : "");
    return {report: r, variant, kind: t.kind, place, name: prefixOf(r) + name, given: t,
        intervals: t.intervals.map(([from, to, on, n]) => [from / 1e6, to / 1e6, n ? on / Math.max(to - from, 1) : 1, n || 1])};
}));
/* Losses of lossless classes, from the first to the last packet, in the same form */
const losses = reports.flatMap((r, variant) => ((r.lossless && r.lossless.losses) || []).filter(l => l.lossless).map(l => ({report: r, variant, kind: "loss", place: l.place,
    name: `${prefixOf(r)}${l.place} class ${l.priority}`, why: `${l.reason}, ${count(l.packets)} packets`, given: {intervals: [[l.first_ns, l.last_ns]]},
    intervals: [[l.first_ns / 1e6, l.last_ns / 1e6, 1, 1]]})));
const commands = reports.flatMap(r => r.commands.map(c => ({report: r, kind: "command", ms: c.at_ns / 1e6, name: `${prefixOf(r)}${c.node}> ${c.command}`})));

/* "gate", "xoff" or undefined: what a port is at a time in ns */
function stateAt(r, place, ns) {
    let state;
    for (const t of tracks) {
        if (t.report !== r || (t.kind !== "gate" && t.kind !== "xoff") || !isPlace(t, place)) continue;
        if (t.given.intervals.some(([from, to]) => from <= ns && ns < to)) state = t.kind === "gate" ? "gate" : state || "xoff";
    }
    return state;
}
/* A host sends XOFF on all its ports. */
function isPlace(t, place) { return t.place === place || (t.given.port === undefined && place.startsWith(t.place + ".")); }

/* All events in the order of time: [ms, name, what, duration in ms or undefined, kind] */
function events() {
    const all = commands.map(c => [c.ms, c.name, "command", undefined, "command"]);
    for (const t of [...tracks, ...losses]) for (const [from, to, , n] of t.intervals)
        all.push([from, t.name, KINDS[t.kind].text + (t.why ? ": " + t.why : "") + (n > 1 ? `, ${count(n)} times` : ""), to - from, t.kind]);
    return all.sort((a, b) => a[0] - b[0]);
}

/* ---- zoom ---- */
function setView(min, max) {
    if (min === view.min && max === view.max) return;
    view.min = min;
    view.max = max;
    for (const u of charts) if (u.scales.x.min !== min || u.scales.x.max !== max) u.setScale("x", {min, max});
    calmAll();
    showView();
}
function showView() {
    at("range").textContent = `${+view.min.toPrecision(6)} to ${+view.max.toPrecision(6)} ms of virtual time`;
    at("whole").disabled = view.min === 0 && view.max === END;
}
function wholeRun() { setView(0, END); }
function redrawAll() { for (const u of charts) u.redraw(false); }

/* ---- cursor ---- */
let shownAt = null, pending = false;
function cursorMoved(u) {
    const left = u.cursor.left;
    shownAt = left === undefined || left === null || left < 0 ? null : u.posToVal(left, "x");
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; showPausesAt(shownAt); });
}

/* ---- marks ---- */
function band(u, from, to, colour, alpha) {
    const x0 = Math.max(u.valToPos(from, "x", true), u.bbox.left), x1 = Math.min(u.valToPos(to, "x", true), u.bbox.left + u.bbox.width);
    if (to < u.scales.x.min || from > u.scales.x.max) return;
    u.ctx.globalAlpha = alpha;
    u.ctx.fillStyle = colour;
    u.ctx.fillRect(x0, u.bbox.top, Math.max(x1 - x0, devicePixelRatio), u.bbox.height);
    u.ctx.globalAlpha = 1;
}
function line(u, ms, colour) {
    const x = Math.round(u.valToPos(ms, "x", true)), {left, top, width, height} = u.bbox;
    if (x < left || x > left + width) return;
    u.ctx.fillStyle = colour;
    u.ctx.fillRect(x, top, devicePixelRatio, height);
}
/* Behind the lines of a plot: bands of what is stalled or down; XOFF and XON of `own` tracks or, if chosen, of all. */
function drawMarks(u, own) {
    const drawn = new Set();   /* topologies that are compared often have the same events */
    for (const t of tracks) {
        const kind = KINDS[t.kind];
        if (kind.band && marked.has(t.kind)) for (const [from, to] of t.intervals) {
            const key = t.kind + " " + from + " " + to;
            if (!drawn.has(key)) band(u, from, to, kind.colour, 0.13);
            drawn.add(key);
        }
        if (t.kind === "xoff" && marked.has("xoff") && !own) for (const [from, to] of t.intervals) {
            line(u, from, "#d0021b66");
            line(u, to, "#1b7f4b66");
        }
        if (own && own(t)) for (const [from, to] of t.intervals) band(u, from, to, kind.colour, 0.16);
    }
    if (marked.has("command")) for (const c of commands) line(u, c.ms, KINDS.command.colour);
}
function drawBar() {
    const there = new Set([...tracks.map(t => t.kind), ...commands.map(c => c.kind)]), parent = at("marks");
    for (const [kind, text] of [["stalled", "stalls"], ["link down", "link failures"], ["node down", "restarts"], ["storm", "watchdog"], ["command", "commands, reloads"],
        ["xoff", "XOFF (red) and XON (green)"]]) {
        if (!there.has(kind)) continue;
        const l = html("label", parent), box = html("input", l);
        box.type = "checkbox";
        box.checked = marked.has(kind);
        box.addEventListener("change", () => { marked[box.checked ? "add" : "delete"](kind); redrawAll(); });
        if (kind !== "xoff") html("i", l).style.background = KINDS[kind].colour;
        l.appendChild(document.createTextNode(text));
    }
    at("whole").addEventListener("click", wholeRun);
    showView();
}
