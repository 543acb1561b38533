import type { Medians } from "../medians.ts"
import { describeBar } from "../print.ts"
import type { Candidate } from "./server.ts"

const FLOOR_RATIO = 1.5
const LOAD_RATIO = 2
const MEMORY_RATIO = 1.5
const BLOCK_MS = 20
const SPACE_MS = 60
const SPACES_RATIO = 1.2

/** One line for each target of live records: whether these figures meet it. */
export function judge(medians: Medians<Candidate>): string[] {
  const figure = (what: string, name: string, candidate: "tideline" | "floor" | "bare" = "tideline") =>
    medians[what]?.[candidate]?.[name] ?? Number.NaN
  const idle = "5000 idle sockets"
  const own100 = figure("100 writes/s, 5000 sockets", "p50")
  return [
    ...Object.entries(medians)
      .filter(([, { tideline }]) => tideline?.["p50"] !== undefined)
      .map(([what]) =>
        describeBar(
          `p50 against the floor, ${what}`,
          figure(what, "p50") / figure(what, "p50", "floor"),
          FLOOR_RATIO,
        ),
      ),
    describeBar(
      "p50 at 4000 writes/s against 100, 5000 sockets",
      figure("4000 writes/s, 5000 sockets", "p50") / own100,
      LOAD_RATIO,
    ),
    describeBar(
      "resident memory of an idle subscribed socket against a bare one of socket.io",
      figure(idle, "perSocket") / figure(idle, "perSocket", "bare"),
      MEMORY_RATIO,
    ),
    describeBar(
      "the same, after garbage collection",
      figure(idle, "atLeast") / figure(idle, "atLeast", "bare"),
      MEMORY_RATIO,
    ),
    describeBar(
      "the same of one that also follows its 50 spaces, against one that does not",
      figure("1000 idle sockets of members of 50 spaces", "atLeast") / figure("1000 idle sockets", "atLeast"),
      SPACES_RATIO,
    ),
    describeBar(
      "ms until the last of 1000 members of a space has a commit",
      figure("commit to 1000 members of a space", "toLast"),
      SPACE_MS,
    ),
    ...["broadcast to 1000", "broadcast to 5000"].map((what) =>
      describeBar(`longest block of the event loop in ms, ${what}`, figure(what, "blocked"), BLOCK_MS),
    ),
  ]
}
