// SPDX-License-Identifier: BSD-3-Clause
// Export: CSV of the data, PNG of a plot as it is shown, SVG of its lines or rows.

function save(name, type, body) {
    const a = document.createElement("a"), url = URL.createObjectURL(body instanceof Blob ? body : new Blob([body], {type}));
    a.href = url;
    a.download = name.replace(/[^\w.-]+/g, "-");
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}
function field(v) {
    const text = v === null || v === undefined ? "" : String(v);
    return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
function csv(rows) { return rows.map(r => r.map(field).join(",")).join("\r\n") + "\r\n"; }
/* A column for each series; samples of several topologies at different times have empty fields. */
function csvOfSeries(series, nameOf) {
    const head = ["time_ms", ...series.map(nameOf)], rows = new Map();
    series.forEach((s, i) => valuesOf(s).forEach((v, k) => {
        const t = s.times[k];
        if (!rows.has(t)) rows.set(t, [t, ...series.map(() => null)]);
        rows.get(t)[i + 1] = v;
    }));
    return csv([head, ...[...rows.values()].sort((a, b) => a[0] - b[0])]);
}
function csvOfTracks(list) {
    return csv([["kind", "place", "from_ns", "to_ns", "covered_ns", "intervals"], ...list.flatMap(t => t.given.intervals.map(([from, to, on, n]) => [t.kind, t.name, from, to, n ? on : to - from, n || 1]))]);
}
function csvOf(plot) {
    if (plot.tracks) return csvOfTracks(plot.tracks);
    if (plot.quantiles) return csv([["share", ...plot.series.map(s => `${s.name} [us]`)], ...plot.quantiles.map((q, i) => [q, ...plot.series.map(s => s.values[i])])]);
    return csvOfSeries([...plot.series, ...(plot.other ? plot.other.series : [])], s => `${s.name} [${s.unit}]`);
}
/* Every series of the report, those of zeros too. */
function csvOfAll() { return csvOfSeries([...groups().values()].flat(), s => `${s.group}: ${s.name} [${s.unit}]`); }

function legendOf(plot) {
    if (plot.tracks || plot.rows) return [];
    return plot.series.map((s, i) => ({name: s.name, on: plot.u.series[i + 1].show, ...styleOf(s, i, plot.series)})).filter(l => l.on);
}
function png(plot) {
    const from = plot.u.ctx.canvas, scale = devicePixelRatio, legend = legendOf(plot), lines = Math.ceil(legend.length / 3), canvas = document.createElement("canvas"), c = canvas.getContext("2d");
    canvas.width = from.width;
    canvas.height = from.height + (24 + 16 * lines) * scale;
    c.fillStyle = "#fff";
    c.fillRect(0, 0, canvas.width, canvas.height);
    c.drawImage(from, 0, 22 * scale);
    c.scale(scale, scale);
    c.fillStyle = "#1c2733";
    c.font = "600 13px sans-serif";
    c.fillText(plot.title, 8, 15);
    c.font = "11px sans-serif";
    legend.forEach((l, i) => {
        const x = 10 + (i % 3) * (canvas.width / scale - 20) / 3, y = from.height / scale + 34 + 16 * Math.floor(i / 3);
        c.fillStyle = l.stroke;
        c.fillRect(x, y - 6, 16, 3);
        c.fillStyle = "#1c2733";
        c.fillText(l.name, x + 22, y);
    });
    return canvas;
}
/* The part of the plot that is in view, as lines or rectangles. */
function svgOf(plot) {
    const u = plot.u, W = u.width, H = u.height, k = devicePixelRatio, {left, top, width, height} = u.bbox, legend = legendOf(plot);
    const box = svg("svg", {xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${W} ${H + 24 + 16 * legend.length}`, "font-family": "sans-serif", "font-size": 11});
    const inside = svg("svg", {x: left / k, y: top / k + 20, width: width / k, height: height / k, viewBox: `0 0 ${width / k} ${height / k}`}, box);
    const X = v => u.valToPos(v, "x"), Y = v => u.valToPos(v, "y");
    svg("text", {x: 8, y: 14, "font-weight": 600, "font-size": 13}, box, plot.title);
    svg("rect", {x: left / k, y: top / k + 20, width: width / k, height: height / k, fill: "none", stroke: "#9aa8b5"}, box);
    u.axes.forEach((a, i) => (a._splits || []).forEach((v, n) => {
        const text = a._values[n];
        if (text === undefined || text === null) return;
        if (i) svg("text", {x: left / k - 6, y: Y(v) + top / k + 24, "text-anchor": "end"}, box, text);
        else svg("text", {x: X(v) + left / k, y: (top + height) / k + 35, "text-anchor": "middle"}, box, text);
    }));
    svg("text", {x: (left + width / 2) / k, y: (top + height) / k + 50, "text-anchor": "middle"}, box, plot.quantiles ? "share of all" : "virtual time, ms");
    if (plot.unit) svg("text", {transform: `translate(10 ${(top + height / 2) / k + 20}) rotate(-90)`, "text-anchor": "middle"}, box, plot.unit);
    if (plot.tracks || plot.rows) {
        const ctx = {fillRect: (x, y, w, h) => svg("rect", {x: (x - left) / k, y: (y - top) / k, width: w / k, height: h / k, fill: ctx.fillStyle, "fill-opacity": ctx.globalAlpha}, inside)};
        const stand = {ctx, bbox: u.bbox, scales: u.scales, valToPos: (v, s, pixels) => u.valToPos(v, s, pixels)};
        plot.shownRows.forEach((r, i) => r.draw(stand, top + height * i / plot.shownRows.length, height / plot.shownRows.length));
    } else {
        for (const l of limitsOf(plot.series)) {
            svg("line", {x1: 0, x2: width / k, y1: Y(l.value), y2: Y(l.value), stroke: l.colour, "stroke-dasharray": "6 4"}, inside);
            svg("text", {x: width / k - 4, y: Y(l.value) - 3, "text-anchor": "end", fill: l.colour}, inside, l.name);
        }
        plot.series.forEach((s, i) => {
            const st = styleOf(s, i, plot.series), points = [];
            u.data[0].forEach((x, n) => { if (u.data[i + 1][n] !== null && u.data[i + 1][n] !== undefined) points.push(X(x).toFixed(1) + "," + Y(u.data[i + 1][n]).toFixed(1)); });
            if (u.series[i + 1].show) svg("polyline", {points: points.join(" "), fill: "none", stroke: st.stroke, "stroke-width": st.width, "stroke-dasharray": st.dash.join(" ")}, inside);
        });
    }
    legend.forEach((l, i) => {
        svg("line", {x1: 10, x2: 34, y1: H + 30 + 16 * i, y2: H + 30 + 16 * i, stroke: l.stroke, "stroke-width": 2, "stroke-dasharray": l.dash.join(" ")}, box);
        svg("text", {x: 40, y: H + 34 + 16 * i}, box, l.name);
    });
    return new XMLSerializer().serializeToString(box);
}
function exportButtons(plot, head) {
    const name = suffix => `${reports.map(r => r.name).join("-").slice(0, 60)}-${plot.title}.${suffix}`;
    button(head, "CSV", "Save the data of this plot", () => save(name("csv"), "text/csv", csvOf(plot)));
    button(head, "PNG", "Save the plot as it is shown", () => png(plot).toBlob(b => save(name("png"), "image/png", b)));
    button(head, "SVG", "Save the plot as it is shown, as lines", () => save(name("svg"), "image/svg+xml", svgOf(plot)));
}
