import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import ts from "typescript"
import { describe, expect, it, onTestFinished } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import { readConfig } from "#server/config.ts"
import { Settings } from "#server/settings.ts"
import packageJson from "../../package.json" with { type: "json" }

const root = resolve(import.meta.dirname, "../..")
const folder = join(root, "ops/kubernetes")

interface Resource {
  apiVersion: string
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
  [field: string]: unknown
}

const base = readdirSync(join(folder, "base"))
  .filter((name) => name.endsWith(".yaml") && name !== "kustomization.yaml")
  .map((name) => parse(readFileSync(join(folder, "base", name), "utf8"), { merge: true }) as Resource)

/** Renders a folder; null without kubectl, which machines without Kubernetes need not have. */
function render(directory: string): Resource[] | null {
  const { status, stdout, stderr, error } = spawnSync("kubectl", ["kustomize", directory], {
    encoding: "utf8",
  })
  if (error) return null
  if (status !== 0) throw new Error(stderr)
  return parseAllDocuments(stdout).map((document) => document.toJS() as Resource)
}

const hasKubectl = !spawnSync("kubectl", ["version", "--client"]).error

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

function settingsIn(path: string): Record<string, string> {
  const lines = readFileSync(join(folder, path), "utf8").split("\n")
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value = ""] = /^(\w+)=(.*)$/.exec(line) ?? []
      return name === undefined ? [] : [[name, value]]
    }),
  )
}

describe("the resources for Kubernetes", () => {
  it("have the fields of Kubernetes' schemas, and no others", () => {
    expect(base.map(({ kind }) => kind).toSorted()).toEqual([
      "Deployment",
      "Ingress",
      "PodDisruptionBudget",
      "Service",
    ])
    expect(faultsOf(base)).toEqual([])
  })

  it("would be found wrong with a misspelt field, a wrong type or a missing field", () => {
    const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "tideline" } }
    expect(faultsOf([{ ...budget, spec: { maximum: 1 } }])[0]).toContain("maximum")
    expect(faultsOf([{ ...budget, spec: { minAvailable: true } }])[0]).toContain("not assignable")
    const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "tideline" } }
    expect(faultsOf([{ ...deployment, spec: { replicas: 2 } }])[0]).toContain("selector")
  })

  it("set variables that Tideline reads, to values that it accepts", () => {
    const settings = settingsIn("base/settings.env")
    expect(Object.keys(settings).filter((name) => !(name in Settings.entries))).toEqual([])
    const secrets = {
      AUTH_SECRET: "a secret for tests, and for nothing else",
      DATABASE_URL: "postgres://tideline:password@postgres:5432/tideline",
      SMTP_URL: "smtp://user:password@mail.example.org:587",
    }
    const config = readConfig({ ...settings, ...secrets })
    expect(config.ops).toEqual({ port: 9464, host: "0.0.0.0" })
  })

  it("let a process drain: readiness fails first, and the grace period is longer than draining", () => {
    const settings = settingsIn("base/settings.env")
    const { spec } = base.find(({ kind }) => kind === "Deployment") as unknown as {
      spec: { template: { spec: { terminationGracePeriodSeconds: number; containers: Container[] } } }
    }
    const [container] = spec.template.spec.containers
    const { periodSeconds, failureThreshold } = container?.readinessProbe ?? {
      periodSeconds: 0,
      failureThreshold: 0,
    }
    const drain = Number(settings["DRAIN_DELAY"])
    expect(drain).toBeGreaterThan(periodSeconds * failureThreshold)
    expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(drain + 30)
  })

  it("name the version in package.json", () => {
    const { images } = parse(readFileSync(join(folder, "example/kustomization.yaml"), "utf8")) as {
      images: { newTag: string }[]
    }
    expect(images.map(({ newTag }) => newTag)).toEqual([packageJson.version])
  })

  it.runIf(hasKubectl)("are rendered with an image, settings and a namespace by the example", () => {
    const rendered = render(join(folder, "example")) ?? []
    expect(rendered.map(({ kind }) => kind)).toContain("ConfigMap")
    expect(faultsOf(rendered)).toEqual([])
    const text = JSON.stringify(rendered)
    expect(text).toContain(`ghcr.io/example/tideline:${packageJson.version}`)
    expect(text).not.toContain('"image":"tideline"')
    expect(text).toContain('"S3_ENDPOINT":"https://s3.example.org"')
  })

  it.runIf(hasKubectl)("run one process on a volume with the component for it", () => {
    const copy = mkdtempSync(join(tmpdir(), "kubernetes-"))
    onTestFinished(() => rmSync(copy, { recursive: true }))
    cpSync(folder, copy, { recursive: true })
    const path = join(copy, "example/kustomization.yaml")
    const text = readFileSync(path, "utf8")
    writeFileSync(path, text.replace("# components:", "components:").replace("#   - ../with", "  - ../with"))
    const rendered = render(join(copy, "example")) ?? []
    expect(faultsOf(rendered)).toEqual([])
    const json = JSON.stringify(rendered)
    expect(json).toContain('"persistentVolumeClaim":{"claimName":"tideline"}')
    expect(json).toContain('"replicas":1')
    expect(json).toContain('"strategy":{"type":"Recreate"}')
  })
})

interface Container {
  readinessProbe: { periodSeconds: number; failureThreshold: number }
}
