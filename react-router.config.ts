import type { Config } from "@react-router/dev/config"

export default {
  ssr: true,
  // With lazy discovery, the other routes arrive in batches, and each batch renders every link of
  // the page again.
  routeDiscovery: { mode: "initial" },
  // Set by server/commands/bundle.ts, which moves a finished build into place.
  buildDirectory: process.env["BUILD_DIRECTORY"] ?? "build",
  future: {
    v8_middleware: true,
    v8_splitRouteModules: true,
    v8_viteEnvironmentApi: true,
    v8_passThroughRequests: true,
    v8_trailingSlashAwareDataRequests: true,
  },
} satisfies Config
