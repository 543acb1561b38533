/**
 * A page whose scripts are asked for once it has been seen: on a slow line they would share it with
 * the style and the font that the page is drawn with. What is changed is how React Router's
 * `Scripts` begin; were they written otherwise, they would begin at once.
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

/**
 * Not every browser tells when it has painted, and one that shows the page to nobody does not
 * paint.
 */
const BEGIN = `await new Promise((begin) => {
  if (document.hidden) return begin();
  document.addEventListener("visibilitychange", begin, { once: true });
  new PerformanceObserver(begin).observe({ type: "paint", buffered: true });
  requestAnimationFrame(() => setTimeout(begin, 1000));
});
const links = document.getElementById("${LINKS}");
links.replaceWith(links.content);
`
