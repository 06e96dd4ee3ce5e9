// SPDX-License-Identifier: BSD-3-Clause
// The figures of the page: tiles, receivers, flows, losses, console.

const LOST_ON_LINK = {lost: "lost on the link", cut: "link was down", corrupt: "FCS error", oversize: "exceeds the link's MTU",
    into_void: "node was down"};

function lostOnLinks(r) { return sum(r.links, l => l.a_to_b.lost + l.b_to_a.lost); }
function goodputOf(r) { return sum(r.flows, f => f.goodput_gbps); }
function possibleOf(r) { return sum(r.hosts, h => h.possible_bytes || 0); }
/* Share of what was possible, in words. The buffer of a receiver holds what it has not taken yet: never above 100 %. */
function shareOf(got, possible) { return possible ? Math.min(100, got / possible * 100).toFixed(1) + " %" : ""; }

function tile(value, label, cls) {
    const t = html("div", at("tiles"), undefined, "tile");
    html("b", t, value, cls);
    html("span", t, label);
    return t;
}
function drawTiles() {
    if (compared) {
        reports.forEach((r, i) => {
            const links = lostOnLinks(r), fair = r.losses && r.losses === links;
            const t = tile(!r.losses ? "lossless" : count(r.losses) + (fair ? " lost, all on links" : " lost"), r.name,
                !r.losses ? "good" : fair ? "fair" : "bad");
            t.style.borderTop = "4px solid " + COLOURS[i % COLOURS.length];
        });
        return;
    }
    const r = reports[0], promise = r.lossless;
    tile(+(r.ended_ns / 1e6).toPrecision(5) + " ms", "virtual time");
    tile(+goodputOf(r).toPrecision(4) + " Gb/s", "goodput of all flows");
    tile(shareOf(sum(r.hosts, h => h.timely_bytes), possibleOf(r)) || "none", "of the possible goodput");
    tile(count(r.packet_hops), "frames carried by links");
    tile(count(r.losses), r.losses ? "frames lost" : "frames lost (lossless)", r.losses ? "bad" : "good");
    if (promise && promise.priorities.length)
        tile(count(promise.lost), `lost of lossless classes (${promise.priorities.join(", ")})`, promise.lost ? "bad" : "good");
    tile(r.violation ? "violated" : "kept", "invariants: conservation, order, bounds", r.violation ? "bad" : "good");
}
function drawBroken() {
    for (const r of reports) {
        const broken = (r.lossless && r.lossless.broken) || [], all = broken.length ? broken : r.violation ? [r.violation] : [];
        if (!all.length) continue;
        const {panel} = panelWith(at("broken"), prefixOf(r) + "promises broken in this run");
        for (const text of all) html("div", panel, text, "bad");
    }
}

/* columns: [heading, text of a row, left-aligned] */
function table(parent, title, columns, rows, empty) {
    html("h2", parent, title);
    const t = html("table", html("div", parent, undefined, "panel scroll")), head = html("tr", html("thead", t)), body = html("tbody", t);
    for (const [heading, , left] of columns) html("th", head, heading, left ? "text" : "");
    for (const r of rows) {
        const tr = html("tr", body);
        for (const [, text, left] of columns) html("td", tr, text(r), left ? "text" : "");
    }
    if (!rows.length) {
        const cell = html("td", html("tr", body), empty, "text");
        cell.colSpan = columns.length;
    }
    return body;
}
/* One row for each topology: its results and its buffer use. */
function drawVariants() {
    const buffer = (r, key) => (most(r.nodes.flatMap(n => n.buffers.map(b => b[key]))) / 1e6).toFixed(3), ms = v => (v / 1e6).toFixed(3);
    table(at("tables"), "Topologies", [["topology", r => r.name, true], ["goodput, Gb/s", r => goodputOf(r).toFixed(3)],
        ["of the possible", r => shareOf(sum(r.hosts, h => h.timely_bytes), possibleOf(r))], ["lost", r => count(r.losses)],
        ["lost on links", r => count(lostOnLinks(r))], ["of lossless classes", r => r.lossless ? count(r.lossless.lost) : ""],
        ["retransmitted", r => count(sum(r.flows, f => f.retransmitted))],
        ["hosts paused, ms", r => ms(sum(r.hosts, h => sum(h.paused_ns, v => v)))], ["receivers starved, ms", r => ms(sum(r.hosts, h => h.starved_ns))],
        ["lossless buffer, MB", r => buffer(r, "most_bytes")], ["above XOFF, MB", r => buffer(r, "headroom_most_bytes")]], reports);
}
function drawReceivers() {
    const rows = reports.flatMap(r => r.hosts.filter(h => r.flows.some(f => f.to === h.name)).map(h => ({h, r})));
    table(at("tables"), "Receivers: goodput against what was possible", [["host", ({h, r}) => prefixOf(r) + h.name, true],
        ["received, MB", ({h}) => (h.goodput_bytes / 1e6).toFixed(3)],
        ["while senders sent, MB", ({h}) => (h.timely_bytes / 1e6).toFixed(3)], ["possible then, MB", ({h}) => (h.possible_bytes / 1e6).toFixed(3)],
        ["share", ({h}) => shareOf(h.timely_bytes, h.possible_bytes)], ["starved, ms", ({h}) => (h.starved_ns / 1e6).toFixed(3)],
        ["most in its buffer, MB", ({h}) => (h.buffer_most / 1e6).toFixed(3)], ["overflowed", ({h}) => count(h.buffer_overflow)]], rows, "no flows");
}
function drawFlows() {
    const rows = reports.flatMap(r => r.flows.map(f => ({f, r})));
    const us = (key, share) => ({f, r}) => f[key].length ? short(f[key][r.quantiles.indexOf(share)]) : "";
    table(at("tables"), "Flows", [["flow", ({f, r}) => prefixOf(r) + f.name + (f.failed ? " (gave up)" : ""), true],
        ["transport", ({f}) => f.transport + " \u00d7 " + f.queue_pairs, true], ["goodput, Gb/s", ({f}) => f.goodput_gbps.toFixed(3)],
        ["packets in order", ({f}) => count(f.received)], ["retransmitted", ({f}) => count(f.retransmitted)], ["NAKs", ({f}) => count(f.naks)],
        ["timeouts", ({f}) => count(f.timeouts)], ["messages", ({f}) => count(f.messages)],
        ["message time, \u00b5s: 50 %", us("message_time_us", 0.5)], ["99 %", us("message_time_us", 0.99)], ["most", us("message_time_us", 1)],
        ["queueing, \u00b5s: 50 %", us("queueing_delay_us", 0.5)], ["99 %", us("queueing_delay_us", 0.99)],
        ["99.9 %", us("queueing_delay_us", 0.999)], ["most", us("queueing_delay_us", 1)],
        ["mean delay, \u00b5s", ({f}) => f.delay_mean_us.toFixed(2)]], rows, "no flows");
}
function lossesOf(r) {
    const rows = [];
    for (const l of r.links) for (const w of [l.a_to_b, l.b_to_a]) for (const k in LOST_ON_LINK) if (w[k]) rows.push([w.name, LOST_ON_LINK[k], w[k]]);
    for (const n of r.nodes) {
        for (const reason in n.reasons) rows.push([n.name, reason, n.reasons[reason]]);
        for (const p of n.ports) {
            if (p.imissed) rows.push([n.name + "." + p.name, "no receive descriptor", p.imissed]);
            if (p.rx_nombuf) rows.push([n.name + "." + p.name, "no buffer", p.rx_nombuf]);
        }
    }
    for (const h of r.hosts) {
        if (h.buffer_overflow) rows.push([h.name, "receive buffer full", h.buffer_overflow]);
        if (h.fcs_errors) rows.push([h.name, "FCS error", h.fcs_errors]);
        if (h.check_errors) rows.push([h.name, "ICRC or header error", h.check_errors]);
    }
    return rows.map(x => [prefixOf(r) + x[0], x[1], x[2]]);
}
function drawLosses() {
    const rows = reports.flatMap(lossesOf).sort((a, b) => b[2] - a[2]);
    table(at("tables"), "Frames that did not arrive", [["where", x => x[0], true], ["why (drops, and packets consumed by nodes)", x => x[1], true],
        ["frames", x => count(x[2])]], rows, "no losses");
    const lossless = reports.flatMap(r => ((r.lossless && r.lossless.losses) || []).filter(l => l.lossless).map(l => ({l, r})));
    if (lossless.length)
        table(at("tables"), "Losses of lossless classes", [["where", ({l, r}) => prefixOf(r) + l.place, true], ["why", ({l}) => l.reason, true],
            ["caused by", ({l}) => l.cause, true], ["priority", ({l}) => l.priority], ["packets", ({l}) => count(l.packets)],
            ["first, ms", ({l}) => (l.first_ns / 1e6).toFixed(6)], ["last, ms", ({l}) => (l.last_ns / 1e6).toFixed(6)]], lossless);
}
function drawCommands() {
    const all = reports.flatMap(r => r.commands.map(c => ({c, r})));
    if (all.length) html("h2", at("commands"), "Console");
    for (const {c, r} of all) {
        html("div", at("commands"), `${c.at_ns / 1e6} ms, ${prefixOf(r)}${c.node}> ${c.command}`);
        html("pre", at("commands"), c.output);
    }
}
