import { resolve } from "node:path"

/**
 * Node's compile cache, so that the hundreds of servers of a run do not each compile the build
 * again.
 */
export const COMPILE_CACHE = resolve(import.meta.dirname, "../../node_modules/.cache/node-compile")
