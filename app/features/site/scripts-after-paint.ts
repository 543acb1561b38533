/**
 * Delays the scripts of a page until after its first paint: on a slow connection they would compete
 * with the style sheet and the font. Rewrites how React Router's `Scripts` start, because it has no
 * option for that.
 */
export function scriptsAfterPaint(page: string): string {
  const links = page.match(PRELOAD)?.join("") ?? ""
  return page
    .replace(PRELOAD, "")
    .replace("</head>", () => `<template id="${LINKS}">${links}</template></head>`)
    .replace(MODULE, (_, tag: string, code: string) => tag + BEGIN + code.replace(IMPORT, importLater))
}

const LINKS = "scripts"
const PRELOAD = /<link rel="modulepreload"[^>]*>/g
const MODULE = /(<script [^>]*type="module"[^>]*>)([^<]*)/
const IMPORT = /^import (?:\* as (\w+) from )?("[^"]+");?$/gm

function importLater(_: string, name: string | undefined, address: string) {
  return name ? `const ${name} = await import(${address});` : `await import(${address});`
}

/** Not every browser reports paint timing, and hidden pages are not painted. */
const BEGIN = `await new Promise((begin) => {
  if (document.hidden) return begin();
  document.addEventListener("visibilitychange", begin, { once: true });
  new PerformanceObserver(begin).observe({ type: "paint", buffered: true });
  requestAnimationFrame(() => setTimeout(begin, 1000));
});
const links = document.getElementById("${LINKS}");
links.replaceWith(links.content);
`
