const ours = "^(app|server|db|live)/"

/** The import rules of docs/architecture.md. tests/architecture plants a violation of each. */
module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "ui-knows-nothing",
      severity: "error",
      from: { path: "^app/ui/" },
      to: { path: ours, pathNot: "^app/ui/" },
    },
    {
      name: "browser-code-sees-contracts-only",
      severity: "error",
      from: { path: "^(app/(features|language)|live/browser)/" },
      to: {
        path: "^(server|db|live/(server|postgres|conformance))/|^live/(open|check)\\.ts$",
        pathNot: "contract\\.ts$",
      },
    },
    {
      name: "routes-call-domains",
      severity: "error",
      from: { path: "^app/(routes/|root\\.tsx$)" },
      to: {
        path: [
          "^db/",
          "^server/(adapters|backup|commands|operations|ports)/",
          "^live/(open|check)\\.ts$",
          "^server/[^/]+\\.ts$",
        ],
        pathNot: ["^server/(context|errors|scope)\\.ts$", "contract\\.ts$"],
      },
    },
    {
      name: "server-never-imports-app",
      severity: "error",
      from: { path: "^(server|db|live/(server|postgres|conformance))/" },
      to: { path: "^(app/|live/(browser/|react\\.ts$))" },
    },
    {
      name: "db-is-a-leaf",
      severity: "error",
      from: { path: "^db/" },
      to: { path: "^(app|server|live/(?!check))" },
    },
    {
      name: "live-knows-no-product",
      severity: "error",
      from: { path: "^live/" },
      to: { path: ours, pathNot: "^live/" },
    },
    {
      name: "live-by-its-entries",
      severity: "error",
      from: { path: ours, pathNot: "^live/" },
      to: { path: "^live/", pathNot: "^live/(open|contract|react|check)\\.ts$" },
    },
    {
      name: "adapters-only-at-the-root",
      severity: "error",
      from: {
        pathNot: [
          "^server/(index|services)\\.ts$",
          "^server/adapters/",
          "^server/commands/",
          "^tests/",
          "^bench/",
        ],
      },
      to: { path: "^server/adapters/" },
    },
    {
      name: "adapters-import-ports-only",
      severity: "error",
      from: { path: "^server/adapters/" },
      to: {
        path: "^server/",
        pathNot: [
          "^server/(adapters|ports|transport)/",
          "^server/(errors|find-entry|log)\\.ts$",
          "contract\\.ts$",
        ],
      },
    },
    {
      name: "domains-not-http",
      severity: "error",
      from: {
        path: "^server/",
        pathNot: ["^server/(http|commands)/", "^server/(app|context)\\.ts$"],
      },
      to: { path: "^server/http/" },
    },
    {
      name: "transport-knows-no-domain",
      severity: "error",
      from: { path: "^server/transport/" },
      to: {
        path: "^server/",
        pathNot: ["^server/(transport|ports)/", "^server/(errors|log)\\.ts$", "contract\\.ts$"],
      },
    },
    {
      name: "ports-are-leaves",
      severity: "error",
      from: { path: "^server/ports/" },
      to: { path: ours, pathNot: ["^server/ports/", "^db/client\\.ts$"] },
    },
    {
      name: "sdks-live-in-adapters",
      severity: "error",
      from: { path: "^(app|server)/", pathNot: "^server/adapters/" },
      to: {
        path: "node_modules/(postgres|nodemailer|@aws-sdk|@clerk/backend|@ai-sdk/(openai|openai-compatible)|better-auth|@better-auth)/",
      },
    },
  ],
  options: {
    tsPreCompilationDeps: true, // type-only imports count
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      extensions: [".ts", ".tsx"],
    },
  },
}
