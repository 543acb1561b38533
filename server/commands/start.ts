import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { buildApp, builtServer, isOutOfDate } from "./bundle.ts"

// `npm start`: builds what is missing or out of date, and runs the build.

const root = resolve(import.meta.dirname, "../..")

process.env["NODE_ENV"] = "production"
if (isOutOfDate(root)) {
  process.stdout.write("Building Tideline. This takes a moment, and is needed only after a change.\n")
  await buildApp(root)
}
await import(pathToFileURL(builtServer(root)).href)
