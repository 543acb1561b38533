import { resolve } from "node:path"

/**
 * Where Node keeps what it has compiled, so that the hundreds of servers of a run do not compile the
 * build again each.
 */
export const COMPILE_CACHE = resolve(import.meta.dirname, "../../node_modules/.cache/node-compile")
