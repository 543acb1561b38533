import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"

/**
 * The frameworks that Tideline is compared with. They are not dependencies: the bench installs them
 * once, into a folder that git ignores.
 */
const PEERS = {
  fastify: "5.12.8",
  "html-react-parser": "6.1.9",
  next: "16.4.6",
  postgres: "3.4.9",
  react: "19.3.1",
  "react-dom": "19.3.1",
}

const folder = resolve(import.meta.dirname, "../.peers")

/**
 * Installs the peers if they are missing. Returns a file in their folder, from which they can be
 * resolved.
 */
export function installPeers(): string {
  const manifest = join(folder, "package.json")
  const wanted = `${JSON.stringify({ private: true, type: "module", dependencies: PEERS }, null, 2)}\n`
  if (!existsSync(manifest) || readFileSync(manifest, "utf8") !== wanted) {
    mkdirSync(folder, { recursive: true })
    process.stderr.write("Installing what is measured beside Tideline.\n")
    writeFileSync(manifest, wanted)
    run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], folder)
  }
  return manifest
}

/** Builds the Next.js application with Tideline's pages. Returns its folder. */
export function buildNext(pages: Record<string, string>): string {
  const next = join(folder, "next")
  cpSync(join(import.meta.dirname, "next"), next, { recursive: true })
  mkdirSync(join(next, "markup"), { recursive: true })
  for (const [name, html] of Object.entries(pages)) writeFileSync(join(next, "markup", name), html)
  run(process.execPath, [nextCommand(), "build"], next)
  return next
}

/** The path of the `next` command's script. */
export function nextCommand(): string {
  return join(folder, "node_modules/next/dist/bin/next")
}

function run(command: string, args: string[], cwd: string) {
  execFileSync(command, args, {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
  })
}
