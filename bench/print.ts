export function show(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return "-"
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))
}

/** As a table of Markdown. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`)
  process.stdout.write(`\n${lines.join("\n")}\n`)
}

/** A promise, the figure that keeps it or does not, and its limit, as a line. */
export function describeBar(what: string, value: number, limit: number): string {
  return `${value <= limit ? "holds " : "MISSED"}  ${what}: ${show(value)} (at most ${limit})`
}

/** The same for a figure that should not be small. */
export function describeFloor(what: string, value: number, limit: number): string {
  return `${value >= limit ? "holds " : "MISSED"}  ${what}: ${show(value)} (at least ${limit})`
}

/** For JSON.stringify: figures with three digits. */
export function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(3)) : value
}
