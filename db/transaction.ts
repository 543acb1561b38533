import type { Connection, Statement } from "#live/check"

/** A statement that `recovers` takes back what failed before it: the transaction can go on. */
export type Run = <Result>(statement: Statement<Result>, recovers?: "recovers") => Promise<Result>

/**
 * Runs the work between `begin` and `commit`. Takes everything back when the work throws, and also
 * when a statement failed and the work went on: PostgreSQL would answer that commit with a
 * rollback, and no error.
 */
export function inTransaction<Result>(connection: Connection, work: (run: Run) => Promise<Result>) {
  const run: Run = (statement) => connection.run(statement)
  return between(run, { open: "begin", keep: "commit", undo: "rollback" }, work, () => connection.isLost)
}

/** The same inside a transaction, which goes on from where this began when it is taken back. */
export function inSavepoint<Result>(run: Run, name: string, work: (run: Run) => Promise<Result>) {
  const commands = {
    open: `savepoint ${name}`,
    keep: `release savepoint ${name}`,
    undo: `rollback to savepoint ${name}`,
  }
  return between(run, commands, work)
}

async function between<Result>(
  run: Run,
  { open, keep, undo }: { open: string; keep: string; undo: string },
  work: (run: Run) => Promise<Result>,
  isLost = () => false,
): Promise<Result> {
  const command = (text: string, recovers?: "recovers") => run((sql) => sql.unsafe(text), recovers)
  let isOver = false
  let failure: { error: unknown } | undefined
  await command(open)
  try {
    const result = await work(async (statement, recovers) => {
      if (isOver) throw new Error("The transaction has ended: a statement was sent after its end.")
      try {
        const answer = await run(statement, recovers)
        if (recovers) failure = undefined
        return answer
      } catch (error) {
        failure ??= { error }
        throw error
      }
    })
    if (failure) throw failure.error
    isOver = true
    await command(keep)
    return result
  } catch (error) {
    isOver = true
    // Without its connection PostgreSQL has taken everything back by itself; so it will when the
    // rollback does not get there.
    if (!isLost()) await command(undo, "recovers").catch(() => {})
    throw error
  }
}
