// SPDX-License-Identifier: BSD-3-Clause
// Plots: lines over time, rows over time (for values that switch on and off, or many series), percentiles. uPlot draws them.

const MOST_LINES = 12, MOST_ROWS = 40, MOST_POINTS = 100;
const plots = [];   /* {title, unit, series, times, u, ...}: what the page shows, for export */
const AXIS = {stroke: "#5b6b7b", font: "11px system-ui, sans-serif", labelFont: "11px system-ui, sans-serif", labelSize: 18, size: 30,
    grid: {stroke: "#e8edf1", width: 1}, ticks: {stroke: "#c3ccd4", width: 1, size: 4}};

function axes(unit) {
    const width = (u, values) => 16 + Math.max(...(values || [""]).map(v => String(v).length)) * 6.3;
    return [{...AXIS, label: "virtual time, ms", space: 60, values: (u, v) => v.map(x => String(+x.toPrecision(7)))},
        {...AXIS, label: unit, size: width, values: (u, v) => v.map(short), space: 26}];
}
function styleOf(s, i, all) {
    if (s.bound) return {stroke: colourOf(s, i, all) + "b0", width: 1.2, dash: [4, 4]};
    const before = compared ? all.slice(0, i).filter(o => o.variant === s.variant && !o.bound).length : Math.floor(i / COLOURS.length);
    return {stroke: colourOf(s, i, all), width: compared ? 1.3 + 0.7 * (reports.length - 1 - s.variant) : 1.4, dash: DASHES[before % DASHES.length]};
}
/* Which lines are drawn at first: the largest ones, of each topology. */
function isFirst(s, i, all) {
    if (all.length <= MOST_LINES) return true;
    return all.slice(0, i).filter(o => o.variant === s.variant).length < Math.max(2, Math.floor(MOST_LINES / reports.length));
}
/* A bound has the colour of the series that it bounds, whose name its own begins with. */
function colourOf(s, i, all) {
    const of = s.bound ? all.findIndex(o => !o.bound && s.name.startsWith(o.name)) : i;
    return COLOURS[(compared ? s.variant : Math.max(of, 0)) % COLOURS.length];
}
/* One table for series of several topologies, whose samples have different times. The whole run is on the axis. */
function tableOf(series) {
    const groups = new Map();
    for (const s of series) groups.set(s.times, [...(groups.get(s.times) || []), s]);
    const tables = [...groups].map(([times, list]) => [times, ...list.map(valuesOf)]), order = [...groups.values()].flat();
    const joined = tables.length > 1 ? uPlot.join(tables) : tables[0];
    const sorted = [joined[0], ...series.map(s => joined[1 + order.indexOf(s)])];
    return sorted.map((column, i) => i ? [null, ...column, null] : [0, ...column, END]);
}
/* A series that jumps at every other sample hides all other lines: join some samples until few are in view. */
function isRestless(s) {
    let jumps = 0;
    for (let k = 1; k < s.values.length; k++) jumps += Math.abs(s.values[k] - s.values[k - 1]);
    return !s.unit.includes("per sample") && s.values.length > 2 * MOST_POINTS && jumps > 0.1 * s.most * s.values.length;
}
function calm(plot) {
    const x = plot.full[0], from = x.findIndex(t => t >= view.min), to = x.findIndex(t => t >= view.max), n = Math.ceil((to - from) / MOST_POINTS);
    const data = plot.full.map((column, i) => {
        if (!i || n < 2 || !plot.series[i - 1].restless) return column;
        const out = column.map(() => null);
        for (let k = 1; k + 1 < column.length; k += n) {
            const group = column.slice(k, Math.min(k + n, column.length - 1)).filter(v => v !== null && v !== undefined);
            if (group.length) out[Math.min(k + n, column.length - 1) - 1] = plot.unit.includes("/s") ? sum(group, v => v) / group.length : most(group);
        }
        return out;
    });
    plot.readout.textContent = n < 2 ? "" : `Jumping series are drawn as the ${plot.unit.includes("/s") ? "mean" : "most"} of ${n} samples; zoom in to see each.`;
    return data;
}
function valuesOf(s) { return s.values.length ? s.values : s.times.map(() => 0); }

function sizeOf(element, height) { return {width: Math.max(260, element.clientWidth - 30), height}; }
const resizer = new ResizeObserver(entries => {
    for (const e of entries) if (e.target.chart && e.target.clientWidth) e.target.chart.setSize(sizeOf(e.target, e.target.chart.height));
});
function place(plot, options, data) {
    if (plot.u) {
        charts.splice(charts.indexOf(plot.u) >>> 0, 1);
        plot.u.destroy();
    }
    plot.u = new uPlot({...sizeOf(plot.panel, options.height), ...options, width: sizeOf(plot.panel, 0).width}, data, plot.holder);
    plot.panel.chart = plot.u;
    resizer.observe(plot.panel);
}
/* Options of everything on the time axis. */
function timed(height, draw) {
    return {height, padding: [16, 12, 0, 0],
        cursor: {sync: {key: "time", scales: ["x", null]}, drag: {x: true, y: false}, focus: {prox: 24}, points: {size: 5}},
        scales: {x: {time: false}},
        hooks: {ready: [u => { charts.push(u); if (view.min !== 0 || view.max !== END) u.setScale("x", {min: view.min, max: view.max}); }],
            setScale: [(u, key) => { if (key === "x") setView(u.scales.x.min, u.scales.x.max); }], setCursor: [cursorMoved], ...draw}};
}

/* ---- lines ---- */
function drawLimits(u, limits, unit) {
    const above = [], taken = [], k = devicePixelRatio, {left, top, width, height} = u.bbox, c = u.ctx;
    c.save();
    c.font = `${11 * k}px sans-serif`;
    c.textAlign = "right";
    c.textBaseline = "bottom";
    c.lineWidth = k;
    c.setLineDash([6 * k, 4 * k]);
    for (const {name, value, colour} of [...limits].sort((a, b) => b.value - a.value)) {
        const y = u.valToPos(value, "y", true), wide = c.measureText(name).width;
        let x = left + width - 4 * k;
        if (y < top) { above.push(`${name} ${short(value)} ${unit}`); continue; }
        for (const t of taken) if (Math.abs(t.y - y) < 12 * k) x = Math.min(x, t.x - 10 * k);
        taken.push({x: x - wide, y});
        c.strokeStyle = c.fillStyle = colour;
        c.beginPath();
        c.moveTo(left, y);
        c.lineTo(left + width, y);
        c.stroke();
        c.fillText(name, x, y - k);
    }
    c.fillStyle = "#5b6b7b";
    c.textAlign = "left";
    if (above.length) c.fillText("higher: " + above.join(", "), left, top - 2 * k);
    c.restore();
}
/* Thresholds that are equal share a line. Those of several topologies are the first one's, unless they differ. */
function limitsOf(series) {
    const out = [];
    for (const s of series) for (const name in s.limits || {}) {
        const value = s.limits[name], same = out.find(l => Math.abs(l.value - value) <= 1e-9 * value && (!compared || l.variant === s.variant || l.name.includes(name)));
        if (value > 1e15) continue;
        if (!same) out.push({name, value, variant: s.variant, colour: {XON: "#1b7f4b", XOFF: "#d0021b", urgent: "#8e24aa", full: "#000000"}[name]});
        else if (!same.name.includes(name)) same.name += " = " + name;
    }
    return out;
}
function showLines(plot) {
    const series = plot.series, limits = limitsOf(series), highest = most(series.map(s => s.most)), xoff = most(limits.filter(l => l.name.includes("XOFF")).map(l => l.value));
    const full = most(limits.map(l => l.value)), top = Math.max(highest, xoff, highest > full * 0.3 ? full : 0) * 1.08 || 1;
    const options = timed(230, {drawClear: [u => drawMarks(u, plot.own)], draw: [u => drawLimits(u, limits, plot.unit)]});
    options.axes = axes(plot.unit);
    options.scales.y = {range: () => [0, top]};
    options.legend = {live: true};
    options.focus = {alpha: 0.35};
    options.series = [{label: "ms", value: (u, v) => v === null ? "" : String(+v.toPrecision(7))}, ...series.map((s, i) => ({label: `${s.name} (max ${short(s.most)})`, show: isFirst(s, i, series),
        spanGaps: true, points: {show: false}, value: (u, v) => short(v), ...styleOf(s, i, series)}))];
    plot.full = tableOf(series);
    for (const s of series) s.restless = isRestless(s);
    plot.calm = series.some(s => s.restless);
    place(plot, options, plot.calm ? calm(plot) : plot.full);
}
/* After a zoom. */
function calmAll() {
    for (const plot of plots) if (plot.calm && !plot.rows) plot.u.setData(calm(plot), false);
}

/* ---- rows ---- */
/* Rows of intervals or of shades: {name, draw(u, y, height), text(ms)}. */
function showRows(plot, rows) {
    const shown = plot.whole ? rows : rows.slice(0, MOST_ROWS), n = shown.length, high = n > 60 ? 11 : 17;
    const widest = Math.max(...shown.map(r => r.name.length), 4) * 6.1 + 22, narrow = Math.min(widest, Math.max(120, plot.panel.clientWidth * 0.4));
    const cut = name => name.length * 6.1 + 22 > narrow ? "\u2026" + name.slice(-Math.floor((narrow - 30) / 6.1)) : name;
    const options = timed(n * high + 62, {drawClear: [u => { if (!plot.tracks) drawMarks(u, () => false); }], draw: [u => {
        const {left, top, width, height} = u.bbox;
        u.ctx.save();
        u.ctx.beginPath();
        u.ctx.rect(left, top, width, height);
        u.ctx.clip();
        shown.forEach((r, i) => r.draw(u, top + height * i / n, height / n));
        u.ctx.restore();
    }], setCursor: [u => {
        const {left, top} = u.cursor, i = Math.floor(u.posToVal(top, "y"));
        plot.readout.textContent = left >= 0 && top >= 0 && shown[i] && u.cursor.event ? shown[i].name + ": " + shown[i].text(u.posToVal(left, "x")) : "";
        cursorMoved(u);
    }]});
    const axis = {...AXIS, label: undefined, size: narrow, font: "11px system-ui, sans-serif", splits: () => shown.map((r, i) => i + 0.5), values: () => shown.map(r => cut(r.name)),
        grid: {show: false}, ticks: {show: false}, space: 1, gap: 6};
    options.axes = [axes("")[0], axis];
    options.scales.y = {range: () => [0, n], dir: -1};
    options.legend = {show: false};
    options.cursor.points = {show: false};
    options.series = [{}, {show: true, points: {show: false}, paths: () => null}];
    place(plot, options, [[0, END], [null, null]]);
    plot.more.textContent = plot.whole ? "fewer" : `all ${rows.length}`;
    plot.more.style.display = rows.length > MOST_ROWS ? "" : "none";
    plot.shownRows = shown;
}
function bar(u, from, to, y, height, colour, alpha) {
    const x0 = Math.max(u.valToPos(from, "x", true), u.bbox.left - 1), x1 = Math.min(u.valToPos(to, "x", true), u.bbox.left + u.bbox.width + 1);
    if (x1 < x0 || to < u.scales.x.min || from > u.scales.x.max) return;
    u.ctx.globalAlpha = alpha;
    u.ctx.fillStyle = colour;
    u.ctx.fillRect(x0, y, Math.max(x1 - x0, devicePixelRatio), height);
    u.ctx.globalAlpha = 1;
}
function rowOfTrack(t) {
    const kind = KINDS[t.kind];
    return {name: `${t.name}: ${t.why || kind.text}`, colour: kind.colour, intervals: t.intervals,
        draw: (u, y, h) => { for (const [from, to, share] of t.intervals) bar(u, from, to, y + h * 0.14, h * 0.72, kind.colour, 0.3 + 0.7 * share); },
        text: ms => {
            const here = t.intervals.find(([from, to]) => from <= ms && ms < to);
            if (!here) return "no";
            const [from, to, share, n] = here, joined = n > 1 ? `, ${count(n)} intervals that cover ${(share * 100).toFixed(1)} %` : "";
            return `${+from.toPrecision(9)} to ${+to.toPrecision(9)} ms, ${time(Math.round((to - from) * 1e6))}${joined}`;
        }};
}
/* A series as shades: the darker, the closer to the largest value of the plot. */
function rowOfSeries(s, highest, unit) {
    const values = valuesOf(s), before = k => k ? s.times[k - 1] : 0;
    return {name: s.name, colour: COLOURS[0], series: s,
        draw: (u, y, h) => values.forEach((v, k) => { if (v > 0) bar(u, before(k), s.times[k], y + h * 0.08, h * 0.84, compared ? COLOURS[s.variant % COLOURS.length] : COLOURS[0], 0.12 + 0.88 * v / highest); }),
        text: ms => { const k = s.times.findIndex(t => t >= ms); return k < 0 ? "" : `${short(values[k])} ${unit}`; }};
}

/* ---- panels ---- */
function buttonsOf(plot, head) {
    const many = plot.series.length > MOST_LINES;
    if (plot.series.length > 1 && !plot.small) {
        plot.mode = button(head, "", "Lines, or a row of shades for each series", () => { plot.rows = !plot.rows; show(plot); });
        plot.all = button(head, "all", "Show all lines", () => setShown(plot, () => true));
        plot.none = button(head, "none", "Hide all lines", () => setShown(plot, () => false));
    }
    if (plot.other) plot.units = button(head, plot.other.unit, "The thresholds count bytes and packet buffers: show the other one", () => {
        [plot.unit, plot.series, plot.other] = [plot.other.unit, plot.other.series, {unit: plot.unit, series: plot.series}];
        plot.units.textContent = plot.other.unit;
        show(plot);
    });
    if (many) {
        plot.filter = html("input", head);
        plot.filter.placeholder = "filter names";
        plot.filter.title = "Show only series whose name contains this";
        plot.filter.addEventListener("input", () => {
            const text = plot.filter.value.toLowerCase();
            if (plot.rows) show(plot); else setShown(plot, (s, i) => text ? s.name.toLowerCase().includes(text) : isFirst(s, i, plot.series));
        });
    }
    plot.more = button(head, "", "Show all rows", () => { plot.whole = !plot.whole; show(plot); });
    exportButtons(plot, head);
}
function setShown(plot, want) {
    if (plot.rows) return;
    plot.u.batch(() => plot.series.forEach((s, i) => plot.u.setSeries(i + 1, {show: want(s, i)})));
}
function show(plot) {
    if (plot.mode) {
        plot.mode.textContent = plot.rows ? "lines" : "rows";
        for (const b of [plot.all, plot.none]) b.style.display = plot.rows ? "none" : "";
    }
    plot.more.style.display = "none";
    plot.readout.textContent = "";
    if (plot.tracks) {
        showRows(plot, plot.tracks.map(rowOfTrack));
    } else if (plot.rows) {
        const text = plot.filter ? plot.filter.value.toLowerCase() : "", highest = most(plot.series.map(s => s.most)) || 1;
        showRows(plot, plot.series.filter(s => s.name.toLowerCase().includes(text)).map(s => rowOfSeries(s, highest, plot.unit)));
    } else {
        showLines(plot);
    }
}
/* plot: title, unit and series, or title and tracks */
function add(parent, plot) {
    const {panel, head} = panelWith(parent, plot.title);
    panel.dataset.group = plot.title;
    plot.series = plot.series || [];
    plot.panel = panel;
    plot.holder = html("div", panel);
    buttonsOf(plot, head);
    plot.readout = html("div", panel, undefined, "readout");
    plots.push(plot);
    show(plot);
    return plot;
}
/* All series of the reports by their group, the largest first. */
function groups() {
    const all = new Map();
    reports.forEach((r, variant) => r.series.forEach(s => {
        if (!all.has(s.group)) all.set(s.group, []);
        all.get(s.group).push({...s, restless: false, plain: s.name, name: prefixOf(r) + s.name, times: r.time_ms, variant, report: r, most: most(s.values)});
    }));
    for (const series of all.values()) series.sort((a, b) => Boolean(a.bound) - Boolean(b.bound) || (compared ? 0 : b.most - a.most) || a.variant - b.variant || b.most - a.most);
    return all;
}
/* Many series that are either high or at 0 most of the time are rows at first: their lines would hide one another. */
function isOnOff(series) {
    if (series[0].unit === "% of time") return true;
    const idle = series.filter(s => sum(s.values, v => v) / s.values.length < 0.4 * s.most).length;
    return series.length > MOST_LINES && series[0].unit.includes("/s") && idle > series.length / 2;
}
function drawSeries(all) {
    for (const [group, series] of all) {
        if (series[0].limits || !series.some(s => s.values.length)) continue;
        const shown = series.filter(s => s.values.length);
        add(at("plots"), {title: group, unit: series[0].unit, series: shown, rows: isOnOff(shown)});
    }
}
/* A plot for each lossless class, with its thresholds; MB or buffers. */
function drawBuffers(all) {
    const bytes = all.get("Buffers of lossless classes") || [], buffers = all.get("Packet buffers of lossless classes") || [];
    const names = [...new Set(bytes.filter(s => s.values.length).sort((a, b) => b.most - a.most).map(s => s.plain))], first = names.slice(0, 12);
    const one = name => add(at("buffers"), {title: name, unit: "MB", series: bytes.filter(s => s.plain === name), other: {unit: "buffers", series: buffers.filter(s => s.plain === name)},
        small: true, own: t => t.kind === "xoff" && t.given.class !== undefined && `${t.place} class ${t.given.class}` === name});
    const idle = new Set(bytes.map(s => s.plain)).size - names.length;
    at("buffers-note").textContent = names.length ? "Bytes and packet buffers have thresholds of their own; the one that is reached first counts. An orange band: XOFF is in force." +
        (idle ? ` ${idle} more classes never held a packet at a sample.` : "") : "No lossless class held a packet at a sample.";
    first.forEach(one);
    if (names.length > first.length) {
        const b = button(at("buffers-note"), `show ${names.length - first.length} more`, "", () => { b.remove(); names.slice(12).forEach(one); });
    }
}
function drawPauses() {
    const rows = [...tracks, ...losses].sort((a, b) => a.variant - b.variant || a.intervals[0][0] - b.intervals[0][0]), left = sum(reports, r => (r.tracks && r.tracks.left_out) || 0);
    at("pauses-note").textContent = rows.length ? "Exact times, not samples. Rows are in the order in which they begin: XOFF is sent by a receiver that fills, pauses the port before it, " +
        "whose buffer fills in turn. The cursor also colours the ends of links in the topology." + (left ? ` ${count(left)} intervals are left out.` : "")
        : "Nothing was paused, stalled, down or lost of a lossless class.";
    if (!rows.length) return;
    const plot = add(at("pauses"), {title: "Pauses, stalls, failures and losses", tracks: rows}), key = html("div", plot.panel, undefined, "note");
    for (const kind of new Set(rows.map(t => t.kind))) {
        const k = html("span", key, undefined, "key");
        html("i", k).style.background = KINDS[kind].colour;
        k.appendChild(document.createTextNode(`${KINDS[kind].text}: ${reports[0].tracks.kinds[kind] || KINDS[kind].help}`));
    }
}
/* ---- percentiles ---- */
function drawPercentiles() {
    for (const [key, title] of [["message_time_us", "Message time"], ["queueing_delay_us", "Queueing delay"]]) {
        const quantiles = reports[0].quantiles || [], names = quantiles.map(q => q === 0 ? "least" : q === 1 ? "most" : +(q * 100).toFixed(3) + " %");
        const series = reports.flatMap((r, variant) => r.flows.filter(f => f[key].length).map(f => ({name: prefixOf(r) + f.name, values: f[key], variant, most: most(f[key])})))
            .sort((a, b) => b.most - a.most);
        if (!series.length) continue;
        const {panel, head} = panelWith(at("percentiles"), title), plot = {title, unit: "\u00b5s", series, panel, holder: undefined, quantiles: names};
        panel.dataset.group = title;
        plot.holder = html("div", panel);
        plot.more = {style: {}};
        if (series.length > 1) {
            button(head, "all", "Show all lines", () => setShown(plot, () => true));
            button(head, "none", "Hide all lines", () => setShown(plot, () => false));
        }
        exportButtons(plot, head);
        const index = quantiles.map((q, i) => i), low = Math.min(...series.flatMap(s => s.values.filter(v => v > 0)), 1e12), high = most(series.map(s => s.most));
        place(plot, {height: 240, padding: [10, 12, 0, 0], scales: {x: {time: false}, y: {distr: 3, range: () => [10 ** Math.floor(Math.log10(Math.max(Math.min(low, high / 2), 0.001))), 10 ** Math.ceil(Math.log10(high * 1.01 || 1))]}},
            cursor: {drag: {x: false, y: false}},
            axes: [{...AXIS, splits: () => index, values: (u, v) => v.map(i => names[i]), label: "share of all"}, {...axes("\u00b5s, logarithmic")[1]}],
            series: [{label: "share", value: (u, v) => names[v] || ""}, ...series.map((s, i) => ({label: s.name, show: isFirst(s, i, series), points: {size: 5}, value: (u, v) => short(v), ...styleOf(s, i, series)}))]},
            [index, ...series.map(s => s.values.map(v => v > 0 ? v : null))]);
        plots.push(plot);
    }
}
