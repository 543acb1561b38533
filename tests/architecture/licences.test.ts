import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { licencesFile, listLicences } from "../../ops/licences.ts"

it("THIRD-PARTY-LICENSES.txt matches the versions in use (npm run licences writes it)", () => {
  const written = readFileSync(licencesFile, "utf8")
  expect(written).toMatch(/^react \d[\d.]+: MIT$/m)
  expect(written).toMatch(/^@img\/sharp-libvips-linux-arm64 \S+: LGPL-3\.0-or-later$/m)
  expect(written).toMatch(/^\| libvips +\| LGPLv3/m)
  expect(written === listLicences()).toBe(true)
})
