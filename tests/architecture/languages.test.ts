import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

describe("the catalogues of the other languages", () => {
  it("have each text of the source, and none that the source has no more", async () => {
    expect(await check("sync", "--clean")).toContain("in sync")
  })

  it("leave nothing untranslated", async () => {
    expect(await check("missing")).toContain("No missing translations")
  })
})

/** What Lingui says of the catalogues; it names what is wrong, and fails. */
async function check(...what: string[]): Promise<string> {
  const cli = resolve(root, "node_modules/@lingui/cli/dist/lingui.js")
  const options = { cwd: root, env: { ...process.env, NO_COLOR: "1" } }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [cli, "check", ...what, "--verbose"],
    options,
  )
  return stdout
}
