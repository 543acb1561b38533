import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, statSync } from "node:fs"
import { join, resolve } from "node:path"

// `npm start`: builds what is missing or out of date, then runs the build. `npm run dev`: runs the sources, with hot reload.

const root = resolve(import.meta.dirname, "../..")
const built = join(root, "build/server/index.js")

if (process.argv.includes("--dev")) {
  process.env["NODE_ENV"] = "development"
  const { runDevelopment } = await import("../development.ts")
  await runDevelopment(root)
} else {
  process.env["NODE_ENV"] = "production"
  if (isOutOfDate()) await build()
  await import(built)
}

function isOutOfDate() {
  const sources = [
    "app",
    "server",
    "db",
    "docs",
    "public",
    "package-lock.json",
    "vite.config.ts",
    "react-router.config.ts",
  ]
  return !existsSync(built) || sources.some((source) => newest(join(root, source)) > statSync(built).mtimeMs)
}

/** When the newest file in the folder was changed. Milliseconds. */
function newest(path: string): number {
  if (!existsSync(path)) return 0
  const { mtimeMs } = statSync(path)
  if (!statSync(path).isDirectory()) return mtimeMs
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

/** In a process of its own, whose memory goes with it. */
async function build() {
  process.stdout.write("Building Tideline. This takes a moment, and only after a change.\n")
  const cli = join(root, "node_modules/@react-router/dev/bin.js")
  const building = spawn(process.execPath, [cli, "build", "--logLevel", "warn"], {
    cwd: root,
    stdio: "inherit",
  })
  const [code] = await once(building, "exit")
  if (code !== 0) process.exit(typeof code === "number" ? code : 1)
}
