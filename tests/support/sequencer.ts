import { statSync } from "node:fs"
import { sep } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Roughly how many seconds a kilobyte of tests takes. */
const SECONDS_PER_KB: Record<string, number> = { process: 5, browser: 4, realtime: 2, http: 2 }

/**
 * Starts the slowest files first, so that none is left running alone at the end. The time is
 * estimated from the size of the file and from its folder, as a machine that runs the tests for the
 * first time has no measurements.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = new Map(files.map((file) => [file, estimate(file)]))
    return files.toSorted(
      (a, b) =>
        // A worker is reused if the next file belongs to the same project.
        b.project.name.localeCompare(a.project.name) || (seconds.get(b) ?? 0) - (seconds.get(a) ?? 0),
    )
  }
}

function estimate({ moduleId, project }: TestSpecification): number {
  const [folder = ""] = moduleId.slice(`${project.config.root}/tests/`.length).split(sep)
  return (statSync(moduleId).size / 1000) * (SECONDS_PER_KB[folder] ?? 1)
}
