// cspell:ignore vulns
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { parseArgs } from "node:util"

// npm run vulnerabilities   compares package-lock.json with what https://osv.dev knows, and fails if a
// package has a known vulnerability, or if nothing could be compared. `--osv https://example.org` names
// another server with the same API. It needs no package, so that it runs before any is installed.

/** As many as OSV takes at once. */
const BATCH = 1000
const ANSWER_MS = 30_000

interface Package {
  readonly name: string
  readonly version: string
}

interface Answer {
  results: { vulns?: { id: string }[]; next_page_token?: string }[]
}

interface Vulnerability {
  summary?: string
  aliases?: string[]
}

const { values, positionals } = parseArgs({
  options: { osv: { type: "string", default: "https://api.osv.dev" } },
  allowPositionals: true,
})
const server = values.osv
const lockfile = resolve(positionals[0] ?? join(import.meta.dirname, "../package-lock.json"))
const accepted = readAccepted(join(dirname(lockfile), "accepted-vulnerabilities.json"))

try {
  process.exitCode = (await compare(readPackages(lockfile))) ? 0 : 1
} catch (error) {
  const { message, cause } = error as Error
  const reason = cause instanceof Error ? cause.message : message
  console.error(`Nothing was compared with ${server}: ${reason}`)
  process.exitCode = 1
}

async function compare(packages: readonly Package[]): Promise<boolean> {
  let open = 0
  for (let at = 0; at < packages.length; at += BATCH) {
    for (const [{ name, version }, ids] of await ask(packages.slice(at, at + BATCH))) {
      for (const id of ids) {
        const { summary = "", aliases = [] } = (await request(`/v1/vulns/${id}`)) as Vulnerability
        const reason = [id, ...aliases].map((each) => accepted[each]).find((each) => each !== undefined)
        if (reason === undefined) open += 1
        const names = aliases.map((alias) => `(${alias})`)
        console.log(
          [`${name} ${version}:`, id, reason ? `(accepted: ${reason})` : summary, ...names].join(" "),
        )
      }
    }
  }
  console.log(`${packages.length} packages, ${open} known vulnerabilities that are not accepted`)
  return open === 0
}

/** The vulnerabilities of each, by id; of what has many, OSV answers with another page. */
async function ask(packages: readonly Package[]): Promise<Map<Package, string[]>> {
  const found = new Map(packages.map((each) => [each, [] as string[]]))
  let open: { about: Package; page?: string }[] = packages.map((about) => ({ about }))
  while (open.length > 0) {
    const queries = open.map(({ about: { name, version }, page }) => ({
      package: { ecosystem: "npm", name },
      version,
      ...(page && { page_token: page }),
    }))
    const { results } = (await request("/v1/querybatch", { queries })) as Answer
    if (!Array.isArray(results) || results.length !== open.length)
      throw new Error(`It answered ${open.length} questions with ${results?.length ?? "no"} results.`)
    open = open.flatMap(({ about }, at) => {
      const { vulns = [], next_page_token: page } = results[at] ?? {}
      found.get(about)?.push(...vulns.map(({ id }) => id))
      return page ? [{ about, page }] : []
    })
  }
  return found
}

async function request(path: string, body?: object): Promise<unknown> {
  const response = await fetch(server + path, {
    signal: AbortSignal.timeout(ANSWER_MS),
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`It answered ${response.status} to ${path}.`)
  return response.json()
}

/** Each name and version once, those for development as well: they build what is released. */
function readPackages(path: string): Package[] {
  const { packages } = JSON.parse(readFileSync(path, "utf8")) as {
    packages: Record<string, { name?: string; version?: string }>
  }
  const all = Object.entries(packages).flatMap(([place, { name, version }]) => {
    const [, last] = /.*node_modules\/(.+)$/.exec(place) ?? []
    return last && version ? [[`${name ?? last}@${version}`, { name: name ?? last, version }] as const] : []
  })
  if (all.length === 0) throw new Error(`${path} has no packages.`)
  return [...new Map(all).values()]
}

/** What does not concern us, by its id or one of its aliases, with the reason. */
function readAccepted(path: string): Record<string, string> {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, string>) : {}
}
