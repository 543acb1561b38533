import { setImmediate as afterOthers } from "node:timers/promises"
import { JSON_LIMIT, parseJson } from "#server/transport/json.ts"
import type { Scope } from "#server/scope.ts"
import { freeMemory } from "#server/transport/spent-memory.ts"
import { BodyUnfit, skimMessages } from "./skim-messages.ts"

/** Bytes of a whole body, with the history that it brings along and the files in it. */
export const BODY_LIMIT = 32 * 1024 * 1024

type PostedBody =
  | { ok: true; value: unknown }
  | { ok: false; status: 400 | 429 }
  /** More bytes than `limit`. */
  | { ok: false; status: 413; limit: number }

/** Large bodies of one person that this process reads at the same time. */
const LARGE_AT_ONCE = 3

/**
 * Parses the body of `POST /api/chat`. Clients send the whole history with each message, although
 * only the last message of a stored conversation is read: of a body above `JSON_LIMIT` that has a
 * `threadId`, the other messages are dropped as they arrive. The data URLs of files in messages count
 * towards `BODY_LIMIT` only. 413 beyond these limits, 400 for invalid JSON or UTF-8, 429 while the
 * person is sending many large bodies. Throws if the client disconnects.
 */
export async function readPostedBody(
  request: Request,
  { turns }: Scope<"turns">,
  userId: string,
): Promise<PostedBody> {
  if (Number(request.headers.get("content-length") ?? 0) > BODY_LIMIT) {
    await request.body?.cancel()
    return tooLarge(BODY_LIMIT)
  }
  const begun: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  let skim: ReturnType<typeof skimMessages> | null = null
  let leave: (() => void) | null = null
  try {
    // Leaving the loop cancels the stream.
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength
      if (size > BODY_LIMIT) return tooLarge(BODY_LIMIT)
      begun.push(chunk)
      if (size <= JSON_LIMIT) continue
      leave ??= turns.enterAlone(`sends ${userId}`, LARGE_AT_ONCE)
      if (!leave) return { ok: false, status: 429 }
      skim ??= skimMessages()
      for (const bytes of begun.splice(0)) {
        skim.write(bytes)
        freeMemory(bytes)
        await afterOthers()
      }
    }
    if (skim) return { ok: true, value: skim.end() }
    const parsed = parseJson(Buffer.concat(begun), { cleansTexts: true })
    return parsed.ok ? parsed : { ok: false, status: 400 }
  } catch (error) {
    if (!(error instanceof BodyUnfit)) throw error
    return error.status === 413 ? tooLarge(JSON_LIMIT) : { ok: false, status: 400 }
  } finally {
    leave?.()
  }
}

function tooLarge(limit: number) {
  return { ok: false, status: 413, limit } as const
}
