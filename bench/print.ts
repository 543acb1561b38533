export function show(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return "-"
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))
}

/** Prints a Markdown table. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`)
  process.stdout.write(`\n${lines.join("\n")}\n`)
}

/** A line that says whether a figure is within its upper limit. */
export function describeBar(what: string, value: number, limit: number): string {
  return `${value <= limit ? "holds " : "MISSED"}  ${what}: ${show(value)} (at most ${limit})`
}

/** A line that says whether a figure reaches its lower limit. */
export function describeFloor(what: string, value: number, limit: number): string {
  return `${value >= limit ? "holds " : "MISSED"}  ${what}: ${show(value)} (at least ${limit})`
}

/** A replacer for JSON.stringify: rounds numbers to three digits. */
export function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(3)) : value
}
