import { resolve } from "node:path"
import { createApp } from "./app.ts"
import { createFileServer } from "./transport/static.ts"
import { runTideline } from "./index.ts"

/** Runs the built application. `build` is the folder of the build, with the client's files. */
export function runProduction(build: string): Promise<void> {
  return runTideline({
    root: resolve(build, ".."),
    openFront: async (services) => ({
      ...createApp(services),
      serveFile: createFileServer(resolve(build, "client")),
      close: async () => {},
    }),
  })
}
