import { enableCompileCache } from "node:module"
import { resolve } from "node:path"

// Built to build/server/index.js. V8's bytecode is cached beside the build, because compiling takes a
// third of a start. The build fills the cache with `--compile`, as an image's files may be read-only.
const build = resolve(import.meta.dirname, "..")
enableCompileCache({ directory: resolve(build, "compile-cache"), portable: true })

const { runProduction } = await import("./production.ts")
if (process.argv[2] === "--compile") process.exit()
await runProduction(build)
