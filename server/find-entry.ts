import { existsSync } from "node:fs"
import { resolve } from "node:path"

/**
 * The file of a process or thread of our own: in the sources beside the module that starts it, whose
 * `import.meta.dirname` this gets. In the build, where that module may be part of another, it is one
 * of the entries.
 */
export function findEntry(directory: string, name: string): string {
  const places = [`${name}.ts`, `${name}.js`, `../${name}.js`]
  const found = places.map((place) => resolve(directory, place)).find((file) => existsSync(file))
  if (found === undefined) throw new Error(`${name} is missing from this build.`)
  return found
}
