import { execFileSync, spawnSync } from "node:child_process"

/** Debian's Python, whose packages these are. */
export const PYTHON = "/usr/bin/python3"

/** What live/python needs; installed if it is missing and we may: in a fresh container, as root. */
export function installPythonSocketio(): void {
  if (isThere()) return
  if (process.getuid?.() === 0) {
    const options = { stdio: ["ignore", "ignore", "inherit"] as ["ignore", "ignore", "inherit"] }
    process.stdout.write("Installing python3-socketio.\n")
    execFileSync("apt-get", ["update", "-q"], options)
    execFileSync(
      "apt-get",
      ["install", "-yq", "--no-install-recommends", "python3-socketio", "python3-aiohttp"],
      options,
    )
  }
  if (!isThere())
    throw new Error(
      "python3-socketio was not found. Install it: apt-get install python3-socketio python3-aiohttp",
    )
}

function isThere(): boolean {
  return spawnSync(PYTHON, ["-c", "import aiohttp, socketio"], { stdio: "ignore" }).status === 0
}
