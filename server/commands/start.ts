import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { buildApp, builtServer, isOutOfDate } from "./bundle.ts"

// `npm start` builds what is missing or out of date, and runs the build. `npm run dev` runs the sources, with hot reload.

const root = resolve(import.meta.dirname, "../..")

if (process.argv.includes("--dev")) {
  process.env["NODE_ENV"] = "development"
  const { runDevelopment } = await import("../development.ts")
  await runDevelopment(root)
} else {
  process.env["NODE_ENV"] = "production"
  if (isOutOfDate(root)) {
    process.stdout.write("Building Tideline. This takes a moment, and only after a change.\n")
    await buildApp(root)
  }
  await import(pathToFileURL(builtServer(root)).href)
}
