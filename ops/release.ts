import { readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import packageJson from "../package.json" with { type: "json" }

// npm run release:version           raises the version as the changesets say, wherever it is
// written npm run release:notes -- v1.2.3   prints what CHANGELOG.md says about the version of that
// tag

const root = resolve(import.meta.dirname, "..")
const { version } = packageJson
const [command, tag] = process.argv.slice(2)

if (command === "version") writeVersion()
else process.stdout.write(readNotes())

/** Changesets raises package.json only. */
function writeVersion() {
  replace("package-lock.json", /(?<=^ {2,6}"name": "tideline",\n {2,6}"version": ")[^"]+/gm)
  replace("Dockerfile", /(?<=^ARG VERSION=).+/gm)
  replace("docker-compose.yml", /(?<=^ {4}image: tideline:).+/gm)
}

function replace(file: string, place: RegExp) {
  const path = join(root, file)
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(place, version))
}

function readNotes(): string {
  if (tag !== `v${version}`) throw new Error(`The tag is ${tag}, and package.json has ${version}.`)
  const sections = readFileSync(join(root, "CHANGELOG.md"), "utf8").split(/^## /m)
  const section = sections.find((each) => each.startsWith(`${version}\n`))
  if (!section) throw new Error(`CHANGELOG.md has no section "## ${version}".`)
  return section.slice(version.length).trim().concat("\n")
}
