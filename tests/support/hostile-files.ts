import { gzipSync } from "node:zlib"
import { pixelFlood } from "./images.ts"

/**
 * Requests a URL that only a script in the origin of the server would request, with what it can
 * read there.
 */
const ATTACK =
  "fetch('/owned?'+document.cookie);new Image().src='/owned';document.title='owned';alert('owned')"
const SCRIPT = `<script>${ATTACK}</script>`
const HTML = `<!doctype html><body onload="${ATTACK}">${SCRIPT}<img src=x onerror="${ATTACK}">`
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90" onload="${ATTACK}">${SCRIPT}<foreignObject width="90" height="90"><body xmlns="http://www.w3.org/1999/xhtml" onload="${ATTACK}"/></foreignObject></svg>`
const XHTML = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>${SCRIPT}</body></html>`
const XSLT = `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="data:text/xsl,%3Cx:stylesheet version='1.0' xmlns:x='http://www.w3.org/1999/XSL/Transform'%3E%3Cx:template match='/'%3E%3Cscript%3Ealert(1)%3C/script%3E%3C/x:template%3E%3C/x:stylesheet%3E"?><a/>`
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

/**
 * Files that would run scripts if their declared type were trusted, or because they are valid in
 * another format too.
 */
export const scripted: [name: string, content: Buffer][] = [
  ["page.html", Buffer.from(HTML)],
  ["page.HTM", Buffer.from(HTML)],
  ["page", Buffer.from(HTML)],
  ["page.txt", Buffer.from(HTML)],
  ["page.html.txt", Buffer.from(HTML)],
  ["page.png", Buffer.from(HTML)],
  ["page.pdf", Buffer.from(HTML)],
  ["marked.html", Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(HTML)])],
  ["wide.html", Buffer.from(`\uFEFF${HTML}`, "utf16le")],
  ["seven.html", Buffer.from("+ADw-script+AD4-alert(1)+ADw-/script+AD4-")],
  ["blank.html", Buffer.from(" ".repeat(5000) + HTML)],
  ["page.shtml", Buffer.from(HTML)],
  ["page.mhtml", Buffer.from(`MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${HTML}`)],
  ["page.xhtml", Buffer.from(XHTML)],
  ["feed.xml", Buffer.from(XHTML)],
  ["style.xml", Buffer.from(XSLT)],
  ["drawing.svg", Buffer.from(SVG)],
  ["drawing.xml", Buffer.from(`<?xml version="1.0"?>${SVG}`)],
  ["drawing.svgz", gzipSync(SVG)],
  ["drawing.png", Buffer.from(SVG)],
  ["code.js", Buffer.from(ATTACK)],
  ["code.mjs", Buffer.from(ATTACK)],
  ["data.json", Buffer.from(HTML)],
  ["polyglot.gif", Buffer.from(`GIF89a/*\0\0*/=1;${ATTACK}//${HTML}`)],
  ["polyglot.png", Buffer.concat([PIXEL, Buffer.from(HTML)])],
  ["polyglot.html", Buffer.concat([PIXEL, Buffer.from(HTML)])],
  ["polyglot.jpg", Buffer.concat([Buffer.from("ffd8fffe00ff", "hex"), Buffer.from(HTML)])],
  ["polyglot.pdf", Buffer.from(`%PDF-1.4\n${HTML}\n%%EOF`)],
  ["polyglot.webp", Buffer.from(`RIFF\xff\0\0\0WEBPVP8 ${HTML}`, "latin1")],
  ["polyglot.mp3", Buffer.from(`ID3\x03\0\0\0\0\0\0${HTML}`, "latin1")],
  ["polyglot.zip", Buffer.from(`PK\x03\x04${HTML}`, "latin1")],
  ["flood.png", pixelFlood(30_000)],
]

/**
 * Names that would escape their folder, break a header, hide their extension, or are invalid on
 * some system.
 */
export const named: string[] = [
  "../../../../etc/passwd",
  "..\\..\\windows\\win.ini",
  "/etc/shadow",
  "....//....//x",
  "%2e%2e%2fencoded",
  "nul\0byte.txt",
  "line\r\nSet-Cookie: owned=1\r\n\r\n<script>",
  'quo"te\\;filename=x.html',
  "invoice\u202Efdp.exe",
  "\u2066isolate\u2069.txt",
  "zero\u200Bwidth\uFEFF.txt",
  `${"👍".repeat(63)}.x`,
  "👨‍👩‍👧‍👦".repeat(40),
  "é".repeat(127),
  "CON",
  "nul.txt",
  "COM1.log",
  "trailing. . .",
  " ",
  ".",
  "..",
  "\u0007",
  "a\uD800b.txt",
  "<img src=x onerror=alert(1)>.txt",
  "=HYPERLINK(1).csv",
]
