import { and, sql } from "drizzle-orm"
import { files } from "#db/schema/files.ts"
import type { Scope } from "../scope.ts"
import { ownFiles } from "./access.ts"
import { splitName } from "./contract.ts"
import { numberedName } from "./names.ts"

/** A number that looks free for `numberedName`, so that the hundredth file of a name does not try a hundred. */
export async function findFreeNumber(
  { db, viewer }: Scope<"db" | "viewer">,
  fileName: string,
): Promise<number> {
  const similar = await db
    .select({ fileName: files.fileName })
    .from(files)
    // A long stem is cut to make room for the number.
    .where(
      and(ownFiles({ viewer }), sql`starts_with(${files.fileName}, left(${splitName(fileName).stem}, 40))`),
    )
  const taken = new Set(similar.map((file) => file.fileName))
  let number = 1
  while (taken.has(numberedName(fileName, number))) number++
  return number
}
