import { and, eq, isNull, sql } from "drizzle-orm"
import { files, type File } from "#db/schema/files.ts"
import type { Scope } from "#server/scope.ts"
import { splitName } from "./contract.ts"
import { numberedName } from "./names.ts"

/**
 * A number that is probably free in the file's place for `numberedName`, so that the hundredth file of a name does not
 * try a hundred.
 */
export async function findFreeNumber(
  { db }: Scope<"db">,
  { userId, spaceId, fileName }: Pick<File, "userId" | "spaceId" | "fileName">,
): Promise<number> {
  const similar = await db
    .select({ fileName: files.fileName })
    .from(files)
    .where(
      and(
        spaceId === null ? and(eq(files.userId, userId), isNull(files.spaceId)) : eq(files.spaceId, spaceId),
        eq(files.trashed, false),
        // A long stem is cut to fit the number.
        sql`starts_with(${files.fileName}, left(${splitName(fileName).stem}, 40))`,
      ),
    )
  const taken = new Set(similar.map((file) => file.fileName))
  let number = 1
  while (taken.has(numberedName(fileName, number))) number++
  return number
}

/** Whether a statement failed because another file of the place has the name. */
export function isNameTaken(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  return code === UNIQUE_VIOLATION || isNameTaken(error.cause)
}

const UNIQUE_VIOLATION = "23505"
