import { defineConfig } from "vitest/config"
import { languages } from "./languages.config.ts"
import { LongestFirst } from "./tests/support/sequencer.ts"
import { WORKERS } from "./tests/support/workers.ts"

// Real servers, databases and browsers, on machines with few cores. A step in a browser gives up after 30 seconds by itself, and says which.
const patience = { testTimeout: 60_000, hookTimeout: 120_000, expect: { poll: { timeout: 15_000 } } }

/** Where .ci/run wants the counts. */
const report = process.env["TEST_REPORT"]

export default defineConfig({
  test: {
    // Also for the projects: what it provides is handed down.
    globalSetup: "tests/support/start-postgres.ts",
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    reporters: report ? ["default", ["json", { outputFile: report }]] : ["default"],
    projects: [
      {
        plugins: [languages()],
        test: {
          name: "parts",
          include: ["tests/**/*.test.{ts,tsx}"],
          exclude: ["tests/{http,process,browser}/**"],
          ...patience,
        },
      },
      {
        test: {
          name: "whole",
          include: ["tests/{http,process,browser}/**/*.test.{ts,tsx}"],
          // What these files test runs in processes of its own. A worker keeps what it has imported, which saves half a second for each file.
          isolate: false,
          globalSetup: "tests/support/build.ts",
          ...patience,
        },
      },
    ],
  },
})
