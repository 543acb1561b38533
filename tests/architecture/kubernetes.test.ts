import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import ts from "typescript"
import { describe, expect, it, onTestFinished } from "vitest"
import { parse, parseAllDocuments, stringify } from "yaml"
import { readConfig } from "#server/config.ts"
import { Settings } from "#server/settings.ts"
import packageJson from "../../package.json" with { type: "json" }
import { helm, runHelm } from "../support/helm.ts"

const root = resolve(import.meta.dirname, "../..")
const chart = join(root, "ops/helm")

interface Resource {
  apiVersion: string
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
  [field: string]: unknown
}

/** What an operator has to set. */
const OWN = {
  image: { repository: "ghcr.io/example/tideline" },
  settings: { APP_URL: "https://tideline.example.org", BLOBS_URL: "s3://tideline" },
}

const VOLUME = {
  ...OWN,
  settings: { APP_URL: "https://tideline.example.org" },
  volume: { enabled: true, storageClass: "fast" },
}

const SECRETS = {
  AUTH_SECRET: "a secret for tests, and for nothing else",
  DATABASE_URL: "postgres://tideline:password@postgres:5432/tideline",
  SMTP_URL: "smtp://user:password@mail.example.org:587",
}

const defaults = parse(readFileSync(join(chart, "values.yaml"), "utf8")) as {
  settings: Record<string, string>
}

describe("the chart for Kubernetes", () => {
  it("has the version in package.json", () => {
    const { version, appVersion } = parse(readFileSync(join(chart, "Chart.yaml"), "utf8")) as {
      version: string
      appVersion: string
    }
    expect([version, appVersion]).toEqual([packageJson.version, packageJson.version])
  })

  it("names settings that Tideline reads, and no others, in its values and in its schema", () => {
    const { properties } = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8")) as {
      properties: { settings: { properties: object } }
    }
    const names = [...Object.keys(defaults.settings), ...Object.keys(properties.settings.properties)]
    expect(names.filter((name) => !(name in Settings.entries))).toEqual([])
    const templates = readdirSync(join(chart, "templates")).map((name) =>
      readFileSync(join(chart, "templates", name), "utf8"),
    )
    const used = [...templates.join("\n").matchAll(/settings\.([A-Z_]+)/g)].map(([, name = ""]) => name)
    expect(used.length).toBeGreaterThan(2)
    expect(used.filter((name) => !(name in Settings.entries))).toEqual([])
  })
})

// Without Helm on this machine: npm run test:chart
describe.runIf(helm)("what Helm renders", () => {
  it("passes helm lint, with and without an operator's values", () => {
    for (const values of [{}, OWN, VOLUME]) {
      const { succeeded, output, errors } = runHelm("lint", "--strict", chart, "--values", write(values))
      expect(output + errors).toContain("0 chart(s) failed")
      expect(succeeded).toBe(true)
    }
  })

  it.each([
    ["with files in a bucket", OWN, ["ConfigMap", "Deployment", "Ingress", "PodDisruptionBudget", "Service"]],
    [
      "with files on a volume",
      VOLUME,
      ["ConfigMap", "Deployment", "Ingress", "PersistentVolumeClaim", "PodDisruptionBudget", "Service"],
    ],
    [
      "with every other value",
      {
        ...OWN,
        image: { ...OWN.image, tag: "next", pullSecrets: ["registry"] },
        replicas: 3,
        ownerSecret: "",
        ingress: { enabled: false },
        nodeSelector: { "kubernetes.io/arch": "amd64" },
        tolerations: [{ key: "web", operator: "Exists" }],
        affinity: { podAntiAffinity: {} },
      },
      ["ConfigMap", "Deployment", "PodDisruptionBudget", "Service"],
    ],
  ])("has the fields of Kubernetes' schemas, and no others, %s", (_case, values, kinds) => {
    const resources = render(values)
    expect(resources.map(({ kind }) => kind).toSorted()).toEqual(kinds)
    expect(faultsOf(resources)).toEqual([])
  })

  it("would be found wrong with a misspelt field, a wrong type or a missing field", () => {
    const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "tideline" } }
    expect(faultsOf([{ ...budget, spec: { maximum: 1 } }])[0]).toContain("maximum")
    expect(faultsOf([{ ...budget, spec: { minAvailable: true } }])[0]).toContain("not assignable")
    const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "tideline" } }
    expect(faultsOf([{ ...deployment, spec: { replicas: 2 } }])[0]).toContain("selector")
  })

  it("gives the processes settings that Tideline accepts", () => {
    const config = readConfig({ ...settingsOf(render(OWN)), ...SECRETS })
    expect(config.ops).toEqual({ port: 9464, host: "0.0.0.0" })
    expect(config.blobs).toMatchObject({ kind: "s3", bucket: "tideline" })
  })

  it("uses the image of this version, the host of APP_URL, and names after the release", () => {
    const resources = render(OWN)
    const text = JSON.stringify(resources)
    expect(new Set([...text.matchAll(/"image":"([^"]+)"/g)].map(([, image]) => image))).toEqual(
      new Set([`ghcr.io/example/tideline:${packageJson.version}`]),
    )
    expect(new Set(resources.map(({ metadata }) => metadata.name))).toEqual(new Set(["waves"]))
    const ingress = resources.find(({ kind }) => kind === "Ingress")
    expect(ingress?.["spec"]).toMatchObject({
      tls: [{ hosts: ["tideline.example.org"] }],
      rules: [{ host: "tideline.example.org" }],
    })
  })

  it("lets a process drain: readiness fails first, and the grace period is longer than draining", () => {
    const { spec } = deploymentOf(render(OWN)).spec.template
    const { periodSeconds, failureThreshold } = spec.containers[0]!.readinessProbe
    const drain = Number(defaults.settings["DRAIN_DELAY"])
    expect(drain).toBeGreaterThan(periodSeconds * failureThreshold)
    const longer = { ...OWN, settings: { ...OWN.settings, DRAIN_DELAY: "60" } }
    for (const [values, delay] of [[OWN, drain] as const, [longer, 60] as const])
      expect(deploymentOf(render(values)).spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(
        delay + 30,
      )
  })

  it("replaces the processes when a setting changes, and only then", () => {
    const [before, same, other] = [OWN, { ...OWN, replicas: 5 }, withSetting("SIGNUP", "closed")]
      .map((values) => deploymentOf(render(values)).spec.template.metadata.annotations)
      .map((annotations) => annotations["checksum/settings"])
    expect(before).toBe(same)
    expect(before).not.toBe(other)
  })

  it("runs one process on a volume, which keeps people's files when the release is removed", () => {
    const resources = render(VOLUME)
    expect(deploymentOf(resources).spec).toMatchObject({
      replicas: 1,
      strategy: { type: "Recreate" },
    })
    const claim = resources.find(({ kind }) => kind === "PersistentVolumeClaim")
    expect(claim?.metadata).toMatchObject({ annotations: { "helm.sh/resource-policy": "keep" } })
    expect(claim?.["spec"]).toMatchObject({ storageClassName: "fast" })
    const mine = { ...VOLUME, volume: { enabled: true, existingClaim: "mine" } }
    const text = JSON.stringify(render(mine))
    expect(text).toContain('"persistentVolumeClaim":{"claimName":"mine"}')
    expect(text).not.toContain('"kind":"PersistentVolumeClaim"')
  })

  it.each([
    ["no image", { ...OWN, image: {} }, "Set image.repository"],
    ["no URL", { ...OWN, settings: { BLOBS_URL: "s3://tideline" } }, "Set settings.APP_URL"],
    ["no place for files", { ...OWN, settings: { APP_URL: "https://a.example" } }, "Files have no place."],
    ["two places for files", { ...OWN, volume: { enabled: true } }, "Keep one of them"],
    ["a misspelt value", { ...OWN, replica: 3 }, "'replica' not allowed"],
    ["a number as a setting", withSetting("DRAIN_DELAY", 10), "got number, want string"],
    ["a setting of the chart's", withSetting("OPS_PORT", "1"), "OPS_PORT is set by the chart."],
    ["another kind of URL", withSetting("APP_URL", "tideline.example.org"), "does not match pattern"],
  ])("is refused with a reason: %s", (_case, values, reason) => {
    const { succeeded, errors } = template(values)
    expect(errors).toContain(reason)
    expect(succeeded).toBe(false)
  })

  it.each([
    ...Object.keys(Settings.entries).filter((name) =>
      /SECRET|API_KEY|^(DATABASE|FOLLOW|SMTP).*_URL$/.test(name),
    ),
    "OIDC_ACME_CLIENT_SECRET",
  ])("is refused with the secret setting %s among the others", (name) => {
    expect(template(withSetting(name, "hidden")).errors).toContain(
      `${name} is secret. Put it into the secret tideline, not into the settings.`,
    )
  })
})

function withSetting(name: string, value: unknown) {
  return { ...OWN, settings: { ...OWN.settings, [name]: value } }
}

function template(values: object) {
  return runHelm("template", "waves", chart, "--namespace", "sea", "--values", write(values))
}

function render(values: object): Resource[] {
  const { succeeded, output, errors } = template(values)
  if (!succeeded) throw new Error(errors)
  return parseAllDocuments(output)
    .map((document) => document.toJS() as Resource | null)
    .filter((resource) => resource !== null)
}

/** A file with the values. */
function write(values: object): string {
  const folder = mkdtempSync(join(tmpdir(), "helm-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, "values.yaml")
  writeFileSync(path, stringify(values))
  return path
}

function settingsOf(resources: readonly Resource[]): Record<string, string> {
  return resources.find(({ kind }) => kind === "ConfigMap")?.["data"] as Record<string, string>
}

interface Deployment {
  spec: {
    template: {
      metadata: { annotations: Record<string, string> }
      spec: {
        terminationGracePeriodSeconds: number
        containers: { readinessProbe: { periodSeconds: number; failureThreshold: number } }[]
      }
    }
  }
}

function deploymentOf(resources: readonly Resource[]): Deployment {
  return resources.find(({ kind }) => kind === "Deployment") as unknown as Deployment
}

/** What TypeScript says to the resources as literals of the types in Kubernetes' own schemas. */
function faultsOf(resources: readonly Resource[]): string[] {
  const lines = resources.map(({ apiVersion, kind, ...rest }, index) => {
    const value = JSON.stringify({ apiVersion, kind, ...rest })
    return `import type { I${kind} as Type${index} } from "kubernetes-models/${apiVersion}"\nexport const resource${index}: Type${index} = ${value}`
  })
  const file = join(root, "tests/architecture/resources.ts")
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (path) => path === file || fileExists(path)
  host.getSourceFile = (path, ...more) =>
    path === file
      ? ts.createSourceFile(file, lines.join("\n"), ts.ScriptTarget.ESNext)
      : getSourceFile(path, ...more)
  const program = ts.createProgram([file], options, host)
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "))
}
