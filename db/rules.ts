import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const RULES = join(import.meta.dirname, "rules")
const BREAKPOINT = "--> statement-breakpoint"

/** A rule that the database itself keeps, no matter who writes: a function, and the triggers that call it. */
export interface Rule {
  /** The function's, and the file's. */
  name: string
  statements: string[]
}

/** The rules as they are now. A file holds its function, and then its triggers. */
export function readRules(): Rule[] {
  return readdirSync(RULES)
    .toSorted()
    .map((file) => ({
      name: file.replace(/\.sql$/, ""),
      statements: readFileSync(join(RULES, file), "utf8")
        .split(/\n\n(?=(?:--.*\n)*CREATE )/)
        .map((statement) => statement.trim()),
    }))
}

/** The statements that the migrations do not end with, in an order in which they can run. */
export function changedRules(rules: readonly Rule[], migrations: readonly string[]): string[] {
  const newest = new Map<string, string>()
  for (const statement of migrations.flatMap((text) => text.split(BREAKPOINT))) {
    const bare = bareTextOf(statement)
    newest.set(subjectOf(bare), bare)
  }
  return rules
    .flatMap(({ statements }) => statements)
    .filter((statement) => {
      const bare = bareTextOf(statement)
      return newest.get(subjectOf(bare)) !== bare
    })
    .toSorted((one, other) => Number(isTrigger(one)) - Number(isTrigger(other)))
}

/** Without comments, and as if it replaced nothing. */
function bareTextOf(statement: string): string {
  return statement
    .replaceAll(/^--.*$/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/^CREATE OR REPLACE /, "CREATE ")
}

/** Which function or trigger a statement is about. */
function subjectOf(bare: string): string {
  return /^CREATE (?:FUNCTION [^(]+|TRIGGER "\w+"[^(]*? ON [^ ]+)/.exec(bare)?.[0] ?? bare
}

function isTrigger(statement: string): boolean {
  return bareTextOf(statement).startsWith("CREATE TRIGGER")
}
