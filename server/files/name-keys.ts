import { and, asc, gt, inArray, isNull, sql } from "drizzle-orm"
import { files } from "#db/schema/files.ts"
import { startOnce } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"

/** Rows of one transaction. */
const AT_ONCE = 200

/** Fills in the keys of names that a version without them stored. Several processes may run it. */
export function startFillingNameKeys(scope: Scope<"db" | "log">) {
  return startOnce(
    (stopping) => fillNameKeys(scope, stopping),
    (error) =>
      scope.log.error(
        { err: error },
        "could not fill in the keys of file names; will continue at the next start",
      ),
  )
}

/** A few rows at a time, so that nobody who writes waits for long. */
export async function fillNameKeys({ db }: Scope<"db">, stopping?: AbortSignal): Promise<void> {
  let last: string | undefined
  while (!stopping?.aborted) {
    const due = db
      .select({ _id: files._id })
      .from(files)
      .where(and(isNull(files.nameKey), last === undefined ? undefined : gt(files._id, last)))
      .orderBy(asc(files._id))
      .limit(AT_ONCE)
      .for("no key update", { skipLocked: true })
    const filled = await db
      .update(files)
      .set({ nameKey: sql`file_name_key(${files.fileName})` })
      .where(inArray(files._id, due))
      .returning({ _id: files._id })
    if (filled.length === 0) return
    last = filled.reduce((most, { _id }) => (_id > most ? _id : most), "")
  }
}
