import { defineConfig } from "vitest/config"
import { languages } from "./languages.config.ts"
import { keepTemporaryFilesInMemory } from "./tests/support/memory-folder.ts"
import { LongestFirst } from "./tests/support/sequencer.ts"
import { WORKERS } from "./tests/support/workers.ts"

keepTemporaryFilesInMemory()

const shared = {
  // Real servers, databases and browsers, on machines with few cores. What a test waits for gives up
  // earlier by itself, and says what it waited for; a few of those may follow one another.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 15_000 } },
  // A worker keeps what it has imported, which saves most files a second of work. So no file may
  // leave anything behind: none mocks a module, and what a test changes it changes back.
  isolate: false,
}

/** The folder where .ci/run expects the counts. */
const report = process.env["TEST_REPORT"]

export default defineConfig({
  test: {
    // Also for the projects, which inherit what it provides.
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
          ...shared,
        },
      },
      {
        test: {
          name: "whole",
          include: ["tests/{http,process,browser}/**/*.test.{ts,tsx}"],
          globalSetup: "tests/support/build.ts",
          setupFiles: "tests/support/show-logs.ts",
          ...shared,
        },
      },
    ],
  },
})
