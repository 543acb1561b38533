import type { Position } from "../protocol/contract.ts"
import type { Page } from "./page.ts"

/** One subscription's part of a snapshot event. */
export type Part = { readonly id: number; readonly token: string } & (
  | { readonly kind: "rows"; readonly page: Page }
  | { readonly kind: "changes"; readonly changes: readonly string[] }
)

const CHUNK = 256 * 1024

/**
 * The events of a snapshot, each without its head (`2["snapshot",{"sequence":…`), none much larger
 * than a chunk unless one row is.
 */
export function renderSnapshot(position: Position, parts: readonly Part[]): string[] {
  const events: string[][] = []
  let size = 0
  for (const part of parts) {
    for (const text of pieces(part)) {
      if (events.length === 0 || size + text.length > CHUNK) {
        events.push([])
        size = 0
      }
      events.at(-1)?.push(text)
      size += text.length
    }
  }
  const head = `,"position":${JSON.stringify(position)},"at":${Date.now()}`
  return events.map(
    (texts, index) =>
      `${head}${index < events.length - 1 ? ',"more":true' : ""},"subscriptions":[${texts.join(",")}]}]`,
  )
}

/** In characters, roughly. */
export function sizeOf(part: Part): number {
  const texts = part.kind === "rows" ? part.page.texts : part.changes
  return texts.reduce((size, text) => size + text.length, 0)
}

function pieces(part: Part): string[] {
  const token = JSON.stringify(part.token)
  if (part.kind === "changes") {
    const changes = part.changes.map((text) => `[${part.id},${text}`)
    return slices(changes).map(
      (text) => `{"id":${part.id},"kind":"changes","changes":[${text}],"token":${token}}`,
    )
  }
  const { texts, order, end } = part.page
  const tail = `"order":${JSON.stringify(order)},"end":${JSON.stringify(end)},"token":${token}}`
  return slices(texts).map((text) => `{"id":${part.id},"kind":"rows","rows":[${text}],${tail}`)
}

/** Joins texts into as few lists as possible; at least one, even if it is empty. */
function slices(texts: readonly string[]): string[] {
  const lists: string[] = []
  let list: string[] = []
  let size = 0
  for (const text of texts) {
    if (size + text.length > CHUNK && list.length > 0) {
      lists.push(list.join(","))
      list = []
      size = 0
    }
    list.push(text)
    size += text.length
  }
  lists.push(list.join(","))
  return lists
}
