import { statSync } from "node:fs"
import { sep } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** How many seconds a kilobyte of tests takes, about. */
const SECONDS_PER_KB: Record<string, number> = { process: 5, browser: 4, realtime: 2, http: 2 }

/**
 * Begins with the files that take longest, so that none of them is left running alone at the end.
 * How long that is can be told from the size of the file and from what its folder does; a machine
 * that runs the tests for the first time knows nothing better.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = new Map(files.map((file) => [file, estimate(file)]))
    return files.toSorted(
      (a, b) =>
        // A worker is used again while the next file belongs to the same project.
        b.project.name.localeCompare(a.project.name) || (seconds.get(b) ?? 0) - (seconds.get(a) ?? 0),
    )
  }
}

function estimate({ moduleId, project }: TestSpecification): number {
  const [folder = ""] = moduleId.slice(`${project.config.root}/tests/`.length).split(sep)
  return (statSync(moduleId).size / 1000) * (SECONDS_PER_KB[folder] ?? 1)
}
