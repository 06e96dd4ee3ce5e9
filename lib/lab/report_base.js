// SPDX-License-Identifier: BSD-3-Clause
// What all scripts of the page use: the report, colours, elements, numbers.
"use strict";

const given = JSON.parse(document.getElementById("report").textContent);
/* A comparison has several reports in `variants`; otherwise the report itself is given. */
const compared = Boolean(given.variants), reports = given.variants || [given];
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6a3d9a", "#8c564b", "#17becf", "#7f7f7f", "#bcbd22", "#b2182b"];
/* In a comparison the colour stands for the topology, and dashes distinguish its series; else dashes begin after the last colour. */
const DASHES = [[], [7, 3], [2, 3], [10, 3, 2, 3], [1, 5], [14, 4], [5, 6], [10, 2, 2, 2, 2, 2]];
const END = Math.max(...reports.map(r => r.ended_ns / 1e6), 1e-6);

function html(tag, parent, text, cls) {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (cls) e.className = cls;
    if (parent) parent.appendChild(e);
    return e;
}
function svg(tag, attributes, parent, text) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const k in attributes) e.setAttribute(k, attributes[k]);
    if (text !== undefined) e.textContent = text;
    if (parent) parent.appendChild(e);
    return e;
}
function button(parent, text, title, press) {
    const b = html("button", parent, text);
    b.type = "button";
    b.title = title;
    b.addEventListener("click", press);
    return b;
}
function panelWith(parent, title) {
    const panel = html("div", parent, undefined, "panel"), head = html("div", panel, undefined, "head");
    html("h3", head, title);
    return {panel, head};
}
function at(id) { return document.getElementById(id); }
function count(n) { return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f"); }
function short(v) {
    const a = Math.abs(v);
    if (v === null || v === undefined) return "";
    if (a >= 1e9) return +(v / 1e9).toPrecision(3) + " G";
    if (a >= 1e6) return +(v / 1e6).toPrecision(3) + " M";
    if (a >= 1e4) return +(v / 1e3).toPrecision(3) + " k";
    return String(+v.toPrecision(3));
}
/* ns as a time with its unit */
function time(ns) {
    const a = Math.abs(ns);
    if (a >= 1e9) return +(ns / 1e9).toPrecision(6) + " s";
    if (a >= 1e6) return +(ns / 1e6).toPrecision(6) + " ms";
    if (a >= 1e3) return +(ns / 1e3).toPrecision(6) + " \u00b5s";
    return ns + " ns";
}
function sum(list, of) { return list.reduce((s, x) => s + of(x), 0); }
/* Math.max with a list of any length; 0 if it is empty */
function most(list) { return list.reduce((m, v) => v > m ? v : m, 0); }
function prefixOf(r) { return compared ? r.name + ": " : ""; }
