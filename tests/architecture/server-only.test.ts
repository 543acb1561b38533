import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"

const root = resolve(import.meta.dirname, "../..")

const CONFIGURATION = [
  "package.json",
  "THIRD-PARTY-LICENSES.txt",
  "tsconfig.json",
  "vite.config.ts",
  "languages.config.ts",
  "lingui.config.ts",
  "react-router.config.ts",
]

/** The smallest application that our build configuration builds, without the page. */
const APP: Record<string, string> = {
  "app/root.tsx": `import { Outlet } from "react-router"\nexport default function Root() { return <Outlet /> }`,
  "app/routes.ts": `import { index } from "@react-router/dev/routes"\nexport default [index("routes/home.tsx")]`,
  "app/entry.client.tsx": "",
  // Without one, React Router bundles its default entry, with libraries that Tideline does not
  // ship.
  "app/entry.server.tsx": "export default function handleRequest() { return new Response() }",
  "server/launch.ts": `export { routes } from "virtual:react-router/server-build"`,
  "server/commands/user.ts": "export {}",
  "server/commands/waitlist.ts": "export {}",
  "server/commands/files.ts": "export {}",
  "server/commands/backup.ts": "export {}",
  "server/commands/backup-key.ts": "export {}",
  "server/commands/history.ts": "export {}",
  "server/commands/restore.ts": "export {}",
  "server/commands/maintenance.ts": "export {}",
  "server/commands/leave.ts": "export {}",
  "server/commands/doctor.ts": "export {}",
  "server/commands/migrate.ts": "export {}",
  "server/files/thumbnail-process.ts": "export {}",
  "server/commands/standbys.ts": "export {}",
  "server/adapters/identity/embedded/password-strength-thread.ts": "export {}",
  "server/refusal-contract.ts": "export const refusalTexts = {}",
  "server/files/contract.ts": `export const LARGEST = 10`,
  "live/open.ts": "export function openRealtime() { return 1 }",
  "server/files/files.ts": `export function findSecret() { return "a secret of the server" }`,
}

describe("the build", () => {
  it("fails when a component imports server code", async () => {
    const { code, output } = await buildWith(`
      import { findSecret } from "#server/files/files.ts"
      export default function Home() { return findSecret() }`)
    expect(code).not.toBe(0)
    expect(output).toContain("server/files/files.ts is server code and would be sent to the browser.")
  })

  it("fails when a component imports the engine's server", async () => {
    const { code, output } = await buildWith(`
      import { openRealtime } from "#live/open"
      export default function Home() { return openRealtime() }`)
    expect(code).not.toBe(0)
    expect(output).toContain("live/open.ts is server code and would be sent to the browser.")
  })

  it("accepts the same function in a loader, and a contract in a component", async () => {
    const { code, output } = await buildWith(`
      import { LARGEST } from "#server/files/contract.ts"
      import { findSecret } from "#server/files/files.ts"
      export function loader() { return findSecret().length }
      export default function Home() { return LARGEST }`)
    expect(output).not.toContain("is server code")
    expect(code, output).toBe(0)
  })
})

async function buildWith(page: string) {
  const folder = mkdtempSync(join(tmpdir(), "tideline-build-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const part of CONFIGURATION) {
    cpSync(join(root, part), join(folder, part))
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  for (const [path, text] of Object.entries({ ...APP, "app/routes/home.tsx": page })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const building = spawn(process.execPath, [join(root, "node_modules/@react-router/dev/bin.js"), "build"], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: "production", NO_COLOR: "1" },
  })
  let output = ""
  building.stdout.on("data", (chunk) => (output += String(chunk)))
  building.stderr.on("data", (chunk) => (output += String(chunk)))
  const [code] = await once(building, "close")
  return { code: Number(code), output }
}
