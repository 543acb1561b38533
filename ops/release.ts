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
  replace("ops/helm/Chart.yaml", /(?<=^(?:version|appVersion): ).+/gm)
  replace("docker-compose.yml", /(?<=^ {4}image: \$\{TIDELINE_IMAGE:-tideline\}:).+/gm)
}

function replace(file: string, place: RegExp) {
  const path = join(root, file)
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(place, version))
}

function readNotes(): string {
  if (tag !== `v${version}`) throw new Error(`The tag is ${tag}, and package.json has ${version}.`)
  const sections = readFileSync(join(root, "CHANGELOG.md"), "utf8").split(/^## /m)
  // With a date, or without one, as changesets writes it.
  const section = sections.find((each) => [version, `${version},`].includes(/^\S+/.exec(each)?.[0] ?? ""))
  if (!section) throw new Error(`CHANGELOG.md has no section "## ${version}".`)
  return section.slice(section.indexOf("\n")).trim().concat("\n")
}
