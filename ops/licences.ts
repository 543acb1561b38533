import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import lock from "../package-lock.json" with { type: "json" }
import packageJson from "../package.json" with { type: "json" }

// npm run licences   writes THIRD-PARTY-LICENSES.txt, which the image carries. A test compares it
// with what is installed.

const root = resolve(import.meta.dirname, "..")

interface Locked {
  version?: string
  license?: string
  dependencies?: Record<string, string>
}

interface Part {
  path: string
  name: string
  version: string
  license: string
}

const locked = lock.packages as Record<string, Locked>

export const licencesFile = join(root, "THIRD-PARTY-LICENSES.txt")

/** Every library that the build holds or loads, and the text of its licence. */
export function listLicences(): string {
  const parts = [...libraries(), ...prebuilt()].toSorted((one, other) =>
    nameOf(one) < nameOf(other) ? -1 : 1,
  )
  const texts = Map.groupBy(parts, textOf)
  const list = parts.map((part) => `${nameOf(part)}: ${part.license}`)
  const sections = [...texts].map(([text, under]) => `${under.map(nameOf).join("\n")}\n\n${text}`)
  return [
    "Tideline contains or loads these libraries. Their licences follow, each once, below the names of what is under it.",
    list.join("\n"),
    `libvips, in the packages @img/sharp-libvips-*. The image has the texts of the GPL and LGPL in /usr/share/common-licenses.\n\n${libvipsNotice()}`,
    ...sections,
  ].join(`\n\n${"-".repeat(80)}\n\n`)
}

/** What package.json depends on, and what that depends on in turn. */
function libraries(): Part[] {
  const found = new Map<string, Part>()
  const visit = (name: string, from: string) => {
    const path = findPackage(name, from)
    if (path === null || found.has(path)) return
    const { version = "", license = "not stated", dependencies = {} } = locked[path] ?? {}
    found.set(path, { path, name, version, license })
    for (const each of Object.keys(dependencies)) visit(each, path)
  }
  for (const name of Object.keys(packageJson.dependencies)) visit(name, "")
  return [...found.values()]
}

/** Where Node finds it from there: the nearest node_modules upwards. */
function findPackage(name: string, from: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`
    if (path in locked) return path
    if (folder === "") return null
    if (!folder.includes("/node_modules/")) folder = ""
  }
}

/** Of sharp, for every platform: only one is installed. */
function prebuilt(): Part[] {
  return Object.entries(locked)
    .filter(([path]) => /^node_modules\/@img\/sharp-[\w-]+$/.test(path))
    .map(([path, { version = "", license = "" }]) => ({ path, name: path.slice(13), version, license }))
}

function nameOf({ name, version }: Part) {
  return `${name} ${version}`
}

function textOf({ path, license }: Part): string {
  const folder = join(root, path)
  const files = path.startsWith("node_modules/@img/sharp-") || !existsSync(folder) ? [] : readdirSync(folder)
  const names = files.filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)).toSorted()
  if (names.length === 0) return `Its package has no text; package.json says: ${license}`
  return names
    .map((name) => readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n").trim())
    .join("\n\n")
}

/** What libvips is made of, as its package says for whatever platform this is. */
function libvipsNotice(): string {
  const folder = join(root, "node_modules/@img")
  const installed = readdirSync(folder).find((name) => name.startsWith("sharp-libvips-"))
  const readme = readFileSync(join(folder, installed ?? "", "README.md"), "utf8")
  return readme.slice(readme.indexOf("## Licensing")).replace("## Licensing\n\n", "").trim()
}

if (import.meta.main) writeFileSync(licencesFile, listLicences())
