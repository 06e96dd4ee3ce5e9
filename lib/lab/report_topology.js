// SPDX-License-Identifier: BSD-3-Clause
// A picture of each topology: hosts and nodes in columns by their distance from the senders. A search by breadth leaves
// links between neighbouring columns and within one only. Every link has a place of its own at the sides of both boxes,
// sorted by where it leads, so no two links lie on one another; links within a column are arcs of different width.

const ENDS = [];   /* ENDS: circles at link ends that show pauses: {report, place, circle} */

function columnsOf(r) {
    const near = new Map(), layer = new Map(), receivers = new Set(r.flows.map(f => f.to)), queue = [];
    for (const n of [...r.nodes, ...r.hosts]) near.set(n.name, []);
    for (const l of r.links) {
        const a = l.a.split(".")[0], b = l.b.split(".")[0];
        near.get(a).push(b);
        near.get(b).push(a);
    }
    const start = name => { if (!layer.has(name)) { layer.set(name, 0); queue.push(name); } };
    const senders = r.flows.map(f => f.from), only = senders.filter(name => !receivers.has(name));
    for (const name of only.length ? only : senders) start(name);
    for (const name of near.keys()) {
        start(layer.size ? [...layer.keys()][0] : name);
        while (queue.length) {
            const here = queue.shift();
            for (const next of near.get(here)) if (!layer.has(next)) { layer.set(next, layer.get(here) + 1); queue.push(next); }
        }
        start(name);   /* a part without links to the rest */
    }
    const columns = [];
    for (const [name, l] of layer) (columns[l] = columns[l] || []).push(name);
    return {columns, layer, near};
}
/* Order each column by the mean place of the neighbours in the next ones, to and fro; keep the order with fewest crossings. */
function untangle({columns, layer, near}) {
    const place = new Map();
    const number = () => columns.forEach(c => c.forEach((name, i) => place.set(name, (i + 0.5) / c.length)));
    const crossings = () => {
        let n = 0;
        for (let l = 0; l + 1 < columns.length; l++) {
            const lines = columns[l].flatMap(a => near.get(a).filter(b => layer.get(b) === l + 1).map(b => [place.get(a), place.get(b)]));
            if (lines.length > 400) return 0;
            for (let i = 0; i < lines.length; i++) for (let k = 0; k < i; k++) n += (lines[i][0] - lines[k][0]) * (lines[i][1] - lines[k][1]) < 0;
        }
        return n;
    };
    let best, fewest = Infinity;
    number();
    for (let round = 0; round < 12; round++) {
        const n = crossings();
        if (n < fewest) { fewest = n; best = columns.map(c => [...c]); }
        const order = [...columns.keys()];
        for (const l of round % 2 ? order.reverse() : order) {
            const mean = new Map(columns[l].map(name => {
                const there = near.get(name).filter(b => layer.get(b) === l + (round % 2 ? 1 : -1));
                return [name, there.length ? sum(there, b => place.get(b)) / there.length : place.get(name)];
            }));
            columns[l].sort((a, b) => mean.get(a) - mean.get(b));
            number();
        }
    }
    return best;
}
/* Places of boxes, and of both ends of each link. */
function layOut(r) {
    const graph = columnsOf(r), columns = untangle(graph), {layer} = graph, width = new Map(), column = new Map(), row = new Map();
    columns.forEach((c, i) => c.forEach((name, k) => { column.set(name, i); row.set(name, k); width.set(name, Math.max(58, name.length * 7.6 + 18)); }));
    const links = r.links.map((l, i) => {
        const [a, b] = [l.a, l.b].map(e => e.split(".")[0]), swap = column.get(a) > column.get(b) || (column.get(a) === column.get(b) && row.get(a) > row.get(b));
        return {l, i, a: swap ? b : a, b: swap ? a : b, ends: swap ? [l.b, l.a] : [l.a, l.b], within: layer.get(a) === layer.get(b)};
    });
    /* arcs within a column: a lane each, the shortest ones inside */
    const lanes = columns.map(() => 0);
    for (const k of links.filter(x => x.within).sort((p, q) => (row.get(p.b) - row.get(p.a)) - (row.get(q.b) - row.get(q.a)))) k.lane = lanes[column.get(k.a)]++;
    const sides = new Map();   /* "name side" -> link ends there */
    const attach = (name, side, k, which, other) => {
        const key = name + " " + side;
        if (!sides.has(key)) sides.set(key, []);
        sides.get(key).push({k, which, other});
    };
    for (const k of links) {
        const within = k.within ? 1e4 : 0;   /* arcs leave above and below all other links */
        attach(k.a, "right", k, 0, k.within ? within - k.lane : row.get(k.b) / columns[column.get(k.b)].length);
        attach(k.b, k.within ? "right" : "left", k, 1, k.within ? -within + k.lane : row.get(k.a) / columns[column.get(k.a)].length);
    }
    const crowded = columns.some(c => c.length > 10), least = crowded ? 24 : 34, gap = crowded ? 9 : 24;
    const height = name => Math.max(least, 9 * Math.max(...["left", "right"].map(s => (sides.get(name + " " + s) || []).length)) + 8);
    const tall = Math.max(...columns.map(c => sum(c, name => height(name) + gap)));
    const place = new Map();
    let x = 12;
    columns.forEach((c, i) => {
        const w = Math.max(...c.map(name => width.get(name))), spare = (tall - sum(c, name => height(name))) / c.length;
        let y = spare / 2;
        for (const name of c) {
            place.set(name, {x: x + w / 2, y: y + height(name) / 2, w: width.get(name), h: height(name)});
            y += height(name) + spare;
        }
        x += w + (i + 1 < columns.length ? Math.min(500, Math.max(150, tall * 0.12)) : 12) + lanes[i] * 22;
    });
    for (const [key, ends] of sides) {
        const p = place.get(key.split(" ")[0]), step = Math.min(9, (p.h - 8) / ends.length), right = key.endsWith("right");
        ends.sort((p1, p2) => p1.other - p2.other || p1.k.i - p2.k.i);
        ends.forEach((e, i) => { e.k["p" + e.which] = [p.x + (right ? p.w : -p.w) / 2, p.y + (i - (ends.length - 1) / 2) * step]; });
    }
    return {links, place, w: x, h: tall + 14};
}
function describe(l) {
    const km = l.delay_ns / 5000;
    return `${short(l.rate_bps / 1e9)} Gb/s, ${km >= 1 ? +km.toPrecision(3) + " km" : time(l.delay_ns)}`;
}
function pathOf(k) {
    const [[x1, y1], [x2, y2]] = [k.p0, k.p1];
    if (!k.within) return {d: `M${x1},${y1} L${x2},${y2}`, point: t => [x1 + (x2 - x1) * t, y1 + (y2 - y1) * t]};
    const c = Math.max(x1, x2) + 40 + k.lane * 29;
    const curve = (p, q, t) => p * (1 - t) ** 3 + 3 * c * t * (1 - t) + q * t ** 3;
    return {d: `M${x1},${y1} C${c},${y1} ${c},${y2} ${x2},${y2}`, point: t => [curve(x1, x2, t), y1 + (y2 - y1) * (3 * t * t - 2 * t ** 3)]};
}
/* Write labels where they cover neither boxes nor one another; what has no room is in the title of the line. */
function label(box, plan, shown) {
    const taken = [...plan.place.values()].map(p => [p.x - p.w / 2, p.y - p.h / 2, p.x + p.w / 2, p.y + p.h / 2 + 12]);
    for (const {path, text} of shown) {
        const w = text.length * 5.6;
        search: for (const t of [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78]) {
            for (const dy of [-4, 12]) {
                const [x, y] = path.point(t), r = [x - w / 2, y + dy - 9, x + w / 2, y + dy + 2];
                if (r[0] < 0 || r[1] < 0 || r[2] > plan.w || taken.some(o => r[0] < o[2] && o[0] < r[2] && r[1] < o[3] && o[1] < r[3])) continue;
                taken.push(r);
                svg("text", {x, y: y + dy, "text-anchor": "middle", style: "paint-order:stroke;stroke:#fff;stroke-width:3px"}, box, text);
                break search;
            }
        }
    }
}
function drawTopology(r) {
    const {panel, head} = panelWith(at("topologies"), "Topology" + (compared ? ": " + r.name : "")), plan = layOut(r);
    if (plan.w > 560) panel.style.gridColumn = "1 / -1";
    const scroll = html("div", panel, undefined, "scroll");
    const box = svg("svg", {viewBox: `0 0 ${plan.w} ${plan.h}`, class: "picture", role: "img", width: plan.w, height: plan.h,
        style: `max-width:100%;min-width:${Math.min(plan.w, 640)}px;height:auto;display:block;margin:auto`}, scroll);
    const common = new Map();
    for (const l of r.links) common.set(describe(l), (common.get(describe(l)) || 0) + 1);
    const [usual, times] = [...common].sort((a, b) => b[1] - a[1])[0] || ["", 0], omit = times > 3 ? usual : "";
    const shown = [];
    for (const k of plan.links) {
        const l = k.l, bad = sum(["a_to_b", "b_to_a"], w => sum(Object.keys(LOST_ON_LINK), key => l[w][key])), path = pathOf(k);
        const line = svg("path", {d: path.d, fill: "none", class: "link", stroke: bad ? "#b3261e" : "#8fa1b3", "stroke-width": 1 + Math.min(3, l.rate_bps / 2e11)}, box);
        svg("title", {}, line, `${l.name} (${describe(l)}): ${count(l.a_to_b.delivered)} frames from a to b, ${count(l.b_to_a.delivered)} from b to a, ${count(bad)} lost`);
        k.ends.forEach((place, i) => ENDS.push({report: r, place, circle: svg("circle", {cx: path.point(i)[0], cy: path.point(i)[1], r: 4, fill: "none"}, box)}));
        if (describe(l) !== omit) shown.push({path, text: describe(l)});
    }
    for (const n of [...r.nodes, ...r.hosts]) {
        const p = plan.place.get(n.name), node = n.ports instanceof Array;
        const lost = node ? n.dropped + sum(n.ports, q => q.imissed + q.rx_nombuf) : n.buffer_overflow;
        const rect = svg("rect", {x: p.x - p.w / 2, y: p.y - p.h / 2, width: p.w, height: p.h, rx: node ? 6 : Math.min(17, p.h / 2), class: node ? "node" : "host",
            fill: node ? "#1f4e79" : "#e8f1ea", stroke: lost ? "#b3261e" : node ? "#12263a" : "#4d8b63", "stroke-width": lost ? 3 : 1.2}, box);
        svg("title", {}, rect, node ? `${n.name}: received ${count(n.rx)}, sent ${count(n.sent)}, dropped ${count(n.dropped)}` : n.name);
        svg("text", {x: p.x, y: p.y + 4, "text-anchor": "middle", style: `font-size:12px;font-weight:600;fill:${node ? "#fff" : "#1c2733"}`}, box, n.name);
        if (lost) svg("text", {x: p.x, y: p.y + p.h / 2 + 12, "text-anchor": "middle", style: "fill:#b3261e;font-weight:600"}, box, count(lost) + " lost");
    }
    label(box, plan, shown);
    for (const e of ENDS) if (e.report === r) box.appendChild(e.circle);
    html("div", panel, (omit ? `Links without a label: ${omit}. ` : "") + "Under the cursor of a plot, a red end of a link may not send, an orange one has sent XOFF.", "note");
    button(head, "SVG", "Save the picture", () => save(`${r.name}-topology.svg`, "image/svg+xml", new XMLSerializer().serializeToString(box)));
}
/* The state of all gates at a time in ms; null: none. */
function showPausesAt(ms) {
    for (const e of ENDS) {
        const state = ms === null ? undefined : stateAt(e.report, e.place, ms * 1e6);
        e.circle.setAttribute("fill", state === "gate" ? "#d0021b" : state === "xoff" ? "#f5a623" : "none");
    }
}
