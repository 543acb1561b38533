import { resolve } from "node:path"
import { createApp } from "./app.ts"
import { createFileServer } from "./transport/static.ts"
import { runTideline } from "./index.ts"

// Built to build/server/index.js, and the client's files beside it.
const build = resolve(import.meta.dirname, "..")

await runTideline({
  root: resolve(build, ".."),
  openFront: async (services) => ({
    ...createApp(services),
    serveFile: createFileServer(resolve(build, "client")),
    close: async () => {},
  }),
})
