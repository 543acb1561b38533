import { asc, gt } from "drizzle-orm"
import { blobs } from "#db/schema/files.ts"
import { eachRow } from "#server/each-row.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import type { Scope } from "#server/scope.ts"
import { holds } from "./digest.ts"
import { putBlob } from "./restore.ts"

/**
 * Puts bytes that the store has lost, or that are damaged, back from `kept`, and yields the key of
 * each. Reads the bytes of every file. What `kept` does not have either stays as it is.
 */
export async function* restoreBytes({ db, blobs: store }: Scope<"db" | "blobs">, kept: Pick<Blobs, "open">) {
  const read = async (after: string | undefined, most: number) =>
    db
      .select()
      .from(blobs)
      .where(after === undefined ? undefined : gt(blobs._id, after))
      .orderBy(asc(blobs._id))
      .limit(most)
  for await (const row of eachRow(read)) {
    if ((await holds(store, row)) || !(await holds(kept, row))) continue
    if (await putBlob(kept, store, row)) yield row.key
  }
}
