import type { Env, MarkdownIt, StateBlock, StateInline } from "markdown-it"

/** What reading a text may still cost. */
export interface Budget {
  /** Elements that may be made. */
  elements: number
  /** Milliseconds of `now` at which reading ends. */
  until: number
  now: () => number
  isOver?: true
}

/** Cells of a table. The parser reads a whole table in one step. */
const MOST_CELLS = 4_000

/**
 * Makes the parser take the rest of a text as it was written once its budget is spent, or where a
 * table is too large.
 */
export function readWithin(parser: MarkdownIt) {
  parser.block.ruler.before("table", "budget", restAsWritten)
  parser.block.ruler.before("table", "large-table", largeTableAsWritten)
  parser.inline.ruler.before("text", "budget", restAsText)
}

function isSpent(budget: Budget): boolean {
  budget.elements -= 1
  // Asking for the time costs more than most steps.
  if (budget.elements < 0 || (budget.elements % 8 === 0 && budget.now() > budget.until)) budget.isOver = true
  return budget.isOver === true
}

function budgetOf(env: Env) {
  return env["budget"] as Budget
}

function restAsWritten(state: StateBlock, line: number, endLine: number): boolean {
  return isSpent(budgetOf(state.env)) && takeAsWritten(state, line, endLine)
}

function largeTableAsWritten(state: StateBlock, line: number, endLine: number): boolean {
  if (line + 1 >= endLine || !/^[ >]*[|:-][|:\- \t]*$/.test(lineAt(state, line + 1))) return false
  const columns = lineAt(state, line).split("|").length
  if (columns < 2) return false
  let end = line
  while (end < endLine && !state.isEmpty(end)) end++
  const cells = columns * (end - line)
  const budget = budgetOf(state.env)
  if (cells > Math.min(MOST_CELLS, budget.elements)) return takeAsWritten(state, line, end)
  budget.elements -= cells
  return false
}

function lineAt(state: StateBlock, line: number) {
  return state.src.slice(state.bMarks[line], state.eMarks[line])
}

function takeAsWritten(state: StateBlock, line: number, end: number) {
  const token = state.push("plain", "", 0)
  token.content = state.getLines(line, end, state.blkIndent, false)
  token.map = [line, end]
  state.line = end
  return true
}

function restAsText(state: StateInline, silent: boolean): boolean {
  if (!isSpent(budgetOf(state.env))) return false
  if (!silent) state.pending += state.src.slice(state.pos, state.posMax)
  state.pos = state.posMax
  return true
}
