import core from "highlight.js/lib/core"
import type { LanguageFn } from "highlight.js"

/** A run of code with its scope. */
export interface CodePiece {
  text: string
  /** The scope of highlight.js: `keyword`, `title.function` ... Null for text without a colour. */
  scope: string | null
}

/** Characters. Highlighting more would be noticeable. */
const LONGEST = 30_000

const highlighter = core.newInstance()

/**
 * Splits code into pieces that together are the whole code; null for an unknown language. Loads the
 * grammar on first use.
 */
export async function highlight(code: string, name: string): Promise<CodePiece[] | null> {
  const language = nameOf(name)
  if (!language || code.length > LONGEST) return null
  await Promise.all([language, ...(EMBEDS[language] ?? [])].map(register))
  return readPieces(highlighter.highlight(code, { language, ignoreIllegals: true }).value)
}

async function register(language: Language) {
  if (highlighter.getLanguage(language)) return
  const { default: grammar } = await LANGUAGES[language]()
  highlighter.registerLanguage(language, grammar)
}

/** Never inserted as HTML: its spans are parsed into pieces. */
function readPieces(html: string): CodePiece[] {
  const scopes: string[] = []
  const pieces: CodePiece[] = []
  for (const [mark, scope] of html.matchAll(/<span class="([^"]*)">|<\/span>|[^<]+/g)) {
    if (mark === "</span>") scopes.pop()
    else if (scope !== undefined) scopes.push(nameOfScope(scope))
    else pieces.push({ text: decode(mark), scope: scopes.at(-1) ?? null })
  }
  return pieces
}

/** `hljs-title function_` stands for `title.function`. */
function nameOfScope(classes: string) {
  return classes.replace("hljs-", "").replaceAll(/ (\w+?)_+/g, ".$1")
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" }

function decode(text: string) {
  return text.replaceAll(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => ENTITIES[name] ?? "")
}

type Language = keyof typeof LANGUAGES

function nameOf(name: string): Language | null {
  const known = name.toLowerCase()
  const language = ALIASES[known] ?? known
  return Object.hasOwn(LANGUAGES, language) ? (language as Language) : null
}

const LANGUAGES = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  diff: () => import("highlight.js/lib/languages/diff"),
  dockerfile: () => import("highlight.js/lib/languages/dockerfile"),
  go: () => import("highlight.js/lib/languages/go"),
  graphql: () => import("highlight.js/lib/languages/graphql"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  lua: () => import("highlight.js/lib/languages/lua"),
  makefile: () => import("highlight.js/lib/languages/makefile"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  nginx: () => import("highlight.js/lib/languages/nginx"),
  perl: () => import("highlight.js/lib/languages/perl"),
  php: () => import("highlight.js/lib/languages/php"),
  powershell: () => import("highlight.js/lib/languages/powershell"),
  python: () => import("highlight.js/lib/languages/python"),
  r: () => import("highlight.js/lib/languages/r"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  scss: () => import("highlight.js/lib/languages/scss"),
  shell: () => import("highlight.js/lib/languages/shell"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
} satisfies Record<string, () => Promise<{ default: LanguageFn }>>

/** The languages embedded in each language. */
const EMBEDS: Partial<Record<Language, Language[]>> = {
  javascript: ["xml", "css"],
  typescript: ["xml", "css"],
  markdown: ["xml"],
  php: ["xml"],
  shell: ["bash"],
  xml: ["css", "javascript"],
}

const ALIASES: Record<string, Language> = {
  "c#": "csharp",
  "c++": "cpp",
  cc: "cpp",
  console: "shell",
  cs: "csharp",
  docker: "dockerfile",
  golang: "go",
  h: "c",
  htm: "xml",
  html: "xml",
  js: "javascript",
  jsonc: "json",
  json5: "json",
  jsx: "javascript",
  kt: "kotlin",
  make: "makefile",
  md: "markdown",
  mjs: "javascript",
  patch: "diff",
  postgres: "sql",
  postgresql: "sql",
  ps1: "powershell",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sass: "scss",
  sh: "bash",
  svg: "xml",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  vue: "xml",
  yml: "yaml",
  zsh: "bash",
}
