import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pino } from "pino"
import { afterAll } from "vitest"
import { holdProcessLock } from "#db/process-lock.ts"
import { users } from "#db/schema/users.ts"
import { openDevelopmentGateway } from "#server/adapters/model/development-gateway.ts"
import { openDiskBlobs } from "#server/adapters/blobs/disk.ts"
import { openGatewayModel } from "#server/adapters/model/gateway.ts"
import { createChunkWriter } from "#server/chat/chunk-writer.ts"
import { createReplies } from "#server/chat/replies.ts"
import { createRunningTurns } from "#server/chat/running-turns.ts"
import type { ReplyChunk } from "#server/chat/contract.ts"
import { openThumbnailer } from "#server/files/thumbnailer.ts"
import { readConfig } from "#server/config.ts"
import type { Database } from "#db/client.ts"
import type { Model } from "#server/ports/model.ts"
import { announce } from "#server/live.ts"
import type { Viewer } from "#server/scope.ts"
import { createTestDatabase } from "./postgres.ts"

export type ChatScope = Awaited<ReturnType<Awaited<ReturnType<typeof openChatServices>>["scopeOf"]>>

/** Services for all tests of a file, and two users who send messages. */
export async function shareChatServices() {
  const chat = await openChatServices()
  afterAll(() => chat.close())
  return { chat, ada: await chat.scopeOf("ada"), grace: await chat.scopeOf("grace") }
}

/**
 * What the chat's functions need: a real database, and the development gateway over HTTP. `scopeOf`
 * adds another user.
 */
export async function openChatServices() {
  const database = await createTestDatabase()
  const gateway = await openDevelopmentGateway()
  const directory = mkdtempSync(join(tmpdir(), "chat-"))
  const logged: Record<string, unknown>[] = []
  const log = pino({ level: "warn" }, { write: (line) => void logged.push(JSON.parse(line)) })
  const lock = await holdProcessLock(database.url)
  const thumbnailer = openThumbnailer({ log })
  const replying = {
    config: readConfig({
      AUTH_SECRET: "a secret for tests, and for nothing else",
      CHAT_TURNS_AT_ONCE: "50",
      // With other tests beside it, a long reply may take a minute.
      CHAT_TIME_LIMIT: "300",
    }),
    log,
    blobs: await openDiskBlobs(directory),
    thumbnailer,
    model: openGatewayModel({
      gateway: { kind: "development", key: gateway.key, baseUrl: gateway.baseUrl },
      name: gateway.model,
    }),
  }
  const services = {
    ...replying,
    replies: createReplies(replying),
    db: database.db,
    turns: createRunningTurns({
      process: lock.number,
      log,
      chunks: createChunkWriter({ db: database.db, log }),
    }),
    announce,
    afterCommit: (effect: (db: Database) => Promise<void>) => effect(database.db),
  }
  let people = 0
  return {
    ...services,
    databaseUrl: database.url,
    gateway,
    logged,
    async scopeOf(name: string) {
      people++
      const [user] = await database.db
        .insert(users)
        .values({ clerkId: `user_${name}_${people}`, email: `${name}@example.org` })
        .returning()
      if (!user) throw new Error("No user was made.")
      const session = { userId: user.clerkId, sessionId: null, plan: "free", via: "cookie" } as const
      const viewer: Viewer = { user, session }
      return { ...services, viewer }
    },
    async close() {
      await services.turns.close()
      await thumbnailer.close()
      await gateway.close()
      await lock.close()
      await database.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The same person with another model. */
export function withModel(scope: ChatScope, model: Model): ChatScope {
  return { ...scope, model, replies: createReplies({ ...scope, model }) }
}

export async function readAll(chunks: AsyncIterable<ReplyChunk>): Promise<ReplyChunk[]> {
  const read: ReplyChunk[] = []
  for await (const chunk of chunks) read.push(chunk)
  return read
}

export function textOf(chunks: ReplyChunk[]): string {
  return chunks.map((chunk) => (chunk.type === "text-delta" ? chunk.delta : "")).join("")
}
