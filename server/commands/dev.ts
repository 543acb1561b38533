import { resolve } from "node:path"
import "./quiet-vite.ts"

// `npm run dev`: the sources, under `node --watch`. A change below server/ or db/ restarts the
// process; Vite replaces the rest while it runs. The folders are named, because Node would
// otherwise watch the modules that Vite writes and removes.

process.env["NODE_ENV"] = "development"
const { runDevelopment } = await import("#server/development.ts")
await runDevelopment(resolve(import.meta.dirname, "../.."))
