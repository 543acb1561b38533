import { mediansOf, type Measured, type Medians } from "../medians.ts"
import { describeBar, describeFloor, printTable, show } from "../print.ts"
import type { Candidate } from "./candidates.ts"

const CANDIDATES: Candidate[] = ["bare", "fastify", "next", "tideline"]

/** Prints the figures, with the targets they meet or miss, and returns the medians. */
export function report(measured: readonly Measured<Candidate>[]): Medians<Candidate> {
  const medians = mediansOf(measured)
  const figure = (what: string, candidate: Candidate, name: string) =>
    medians[what]?.[candidate]?.[name] ?? Number.NaN
  const loads = Object.keys(medians).filter((what) => what !== "idle")

  printTable(
    ["answers per second", ...CANDIDATES, "Tideline : bare", "Tideline : Next.js"],
    loads.map((what) => [
      what,
      ...CANDIDATES.map((candidate) => show(figure(what, candidate, "perSecond"))),
      show(ratio(what, "perSecond", "bare")),
      show(ratio(what, "perSecond", "next")),
    ]),
  )
  printTable(
    ["p50 / p99 in ms; CPU of the server per answer in µs", ...CANDIDATES],
    loads.map((what) =>
      [what].concat(
        CANDIDATES.map((candidate) =>
          ["p50", "p99", "cpu"].map((name) => show(figure(what, candidate, name))).join(" / "),
        ),
      ),
    ),
  )
  printTable(
    ["resident memory in MiB", ...CANDIDATES],
    ["idle", "1,000 connections"].map((what) =>
      [what === "idle" ? what : "after all loads"].concat(
        CANDIDATES.map((candidate) => show(figure(what, candidate, "memory"))),
      ),
    ),
  )
  printTable(
    ["answers that were none, in all rounds", ...CANDIDATES],
    loads.map((what) =>
      [what].concat(CANDIDATES.map((candidate) => show(failuresOf({ candidate, what }, measured)))),
    ),
  )

  const failures = loads.reduce(
    (sum, what) => sum + (failuresOf({ candidate: "tideline", what }, measured) ?? 0),
    0,
  )
  const bars = [
    describeFloor("/api/health against bare node:http", ratio("/api/health", "perSecond", "bare"), 0.15),
    describeFloor("/api/health against Next.js", ratio("/api/health", "perSecond", "next"), 4),
    describeFloor("a kept page against bare node:http", ratio("/, kept", "perSecond", "bare"), 0.7),
    describeFloor("a kept page against Next.js's static page", ratio("/, kept", "perSecond", "next"), 15),
    describeFloor("a rendered page against Next.js", ratio("/, rendered", "perSecond", "next"), 3),
    describeFloor("/dashboard against Next.js", ratio("/dashboard", "perSecond", "next"), 3.5),
    ...["/, rendered", "/dashboard"].flatMap((what) => [
      describeBar(`p99 of ${what} against Next.js's`, ratio(what, "p99", "next"), 0.5),
      describeBar(
        `p99 of ${what} against its own median`,
        figure(what, "tideline", "p99") / figure(what, "tideline", "p50"),
        3,
      ),
    ]),
    describeBar("answers that were none, at up to 1,000 connections", failures, 0),
    describeBar("idle memory against Next.js's", ratio("idle", "memory", "next"), 1.5),
  ]
  process.stdout.write(`\n${bars.join("\n")}\n`)
  return medians

  function ratio(what: string, name: string, other: Candidate) {
    return figure(what, "tideline", name) / figure(what, other, name)
  }
}

/**
 * Counts lost connections and responses with an unexpected status. Undefined if nothing was
 * requested.
 */
function failuresOf(
  { candidate, what }: Pick<Measured<Candidate>, "candidate" | "what">,
  measured: readonly Measured<Candidate>[],
): number | undefined {
  const same = measured.filter((each) => each.candidate === candidate && each.what === what)
  return same.length === 0 ? undefined : same.reduce((sum, { figures }) => sum + (figures["failed"] ?? 0), 0)
}
