import type { ServerBuild } from "react-router"

type Routes = ServerBuild["routes"]

/** How many segments of an address decide its section. */
const DEPTH = 2

/**
 * The build, cut for each section of the addresses (`/dashboard/files`, `/api`) to the routes that can match there. React Router
 * tries every route on every request, twice, and makes a tree of all of them for every page: with sixty routes that is half of
 * what a small answer costs. Answers the section's build for a path, and the whole one for paths of no section.
 */
export function cutIntoSections(build: ServerBuild): (pathname: string) => ServerBuild {
  const patterns = pagesOf(build.routes)
  const atRoot = patterns.filter(({ segments }) => segments.every(mayBeAbsent)).map(({ id }) => id)
  const sections = new Map([["", restrict(build, atRoot)]])
  for (const { segments } of patterns) {
    for (let depth = 1; depth <= DEPTH; depth++) {
      const prefix = segments.slice(0, depth)
      const key = prefix.join("/")
      if (prefix.length < depth || !prefix.every(isStatic) || sections.has(key)) continue
      const possible = patterns.filter(({ segments: own }) => couldMatch(own, prefix)).map(({ id }) => id)
      sections.set(key, restrict(build, possible))
    }
  }
  return (pathname) => {
    const segments = pathname
      .replace(/(\/_)?\.data$/, "")
      .split("/", DEPTH + 1)
      .slice(1)
    return sections.get(segments.join("/")) ?? sections.get(segments[0] ?? "") ?? build
  }
}

interface Page {
  id: string
  /** Of its address: `["blog", ":slug"]`. */
  segments: string[]
}

function pagesOf(routes: Routes): Page[] {
  return Object.values(routes).flatMap((route) => {
    if (!route || (route.path === undefined && !route.index)) return []
    const path = lineOf(routes, route.id)
      .map((id) => routes[id]?.path ?? "")
      .join("/")
    return { id: route.id, segments: path.split("/").filter(Boolean) }
  })
}

/** A route and everything around it, the outermost first. */
function lineOf(routes: Routes, id: string): string[] {
  const parent = routes[id]?.parentId
  return parent ? [...lineOf(routes, parent), id] : [id]
}

function isStatic(segment: string) {
  return /^[^:*?]+$/.test(segment)
}

function mayBeAbsent(segment: string) {
  return segment === "*" || segment.endsWith("?")
}

/** Also where the pattern ends before the section begins: a page names its neighbours above, for links to them. */
function couldMatch(pattern: string[], prefix: string[]): boolean {
  for (const [index, segment] of prefix.entries()) {
    const own = pattern[index]
    if (own === undefined || mayBeAbsent(own)) return true
    if (isStatic(own) && own.toLowerCase() !== segment.toLowerCase()) return false
  }
  return true
}

function restrict(build: ServerBuild, pages: string[]): ServerBuild {
  const kept = new Set(pages.flatMap((id) => lineOf(build.routes, id)))
  const only = <Entry>(entries: Record<string, Entry>) =>
    Object.fromEntries(Object.entries(entries).filter(([id]) => kept.has(id)))
  return {
    ...build,
    routes: only(build.routes),
    assets: { ...build.assets, routes: only(build.assets.routes) },
  }
}
