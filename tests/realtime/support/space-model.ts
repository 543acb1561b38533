import type { Role } from "#db/schema/spaces.ts"

/** What a committed transaction changed. A place is a space's id, or the name of the person whose it is. */
export type Effect =
  | { kind: "member"; space: string; person: string; role: Role | null }
  | { kind: "space"; space: string; trashed?: boolean; token?: string }
  | { kind: "thread"; thread: string; place?: string; author?: string; trashed?: boolean; token?: string }
  | { kind: "message"; message: string; thread: string; author: string; token: string }
  | { kind: "message-gone"; message: string }
  | { kind: "file"; file: string; place: string; trashed: boolean; token: string }
  /** Somebody changed what is in this conversation, and was not refused. */
  | { kind: "acted"; person: string; thread: string }

interface Thread {
  place: string
  author: string
  trashed: boolean
  token: string
}

/**
 * The rows of all spaces, as they are after each transaction, in the order of the commits. It knows
 * the rule of who may see what from nowhere but here.
 */
export class SpaceModel {
  readonly #roles = new Map<string, Map<string, Role>>()
  readonly #spaces = new Map<string, { trashed: boolean; token: string }>()
  readonly #threads = new Map<string, Thread>()
  readonly #messages = new Map<string, { thread: string; author: string; token: string }>()
  readonly #files = new Map<string, { place: string; trashed: boolean; token: string }>()
  /** Changes that were committed by people who could not make them at that point. */
  readonly unlawful: string[] = []

  apply(effects: readonly Effect[]): void {
    for (const effect of effects) this.#apply(effect)
  }

  mayRead(person: string, place: string): boolean {
    return (
      place === person || (this.#spaces.get(place)?.trashed === false && this.#roleOf(person, place) !== null)
    )
  }

  seesThread(person: string, thread: string, place: string): boolean {
    const known = this.#threads.get(thread)
    return known?.place === place && !known.trashed && this.mayRead(person, place)
  }

  /** The texts that a list shows. */
  tokensIn(query: string, place: string, thread?: string): string[] {
    if (query === "chat.listMessages") {
      const known = this.#threads.get(thread ?? "")
      return [...this.#messages.values()]
        .filter(
          (message) =>
            message.thread === thread && (this.#spaces.has(place) || message.author === known?.author),
        )
        .map(({ token }) => token)
        .toSorted()
    }
    const rows = query === "files.list" ? this.#files.values() : this.#threads.values()
    return [...rows]
      .filter((row) => row.place === place && !row.trashed)
      .map(({ token }) => token)
      .toSorted()
  }

  spaceTokensOf(person: string): string[] {
    return [...this.#spaces]
      .filter(([space]) => this.mayRead(person, space))
      .map(([, { token }]) => token)
      .toSorted()
  }

  /** Every text that the person may be shown now. */
  visibleTo(person: string): string[] {
    const places = [...this.#spaces.keys(), person].filter((place) => this.mayRead(person, place))
    const threads = [...this.#threads].filter(([, { trashed, place }]) => !trashed && places.includes(place))
    return [
      ...this.spaceTokensOf(person),
      ...places.flatMap((place) => this.tokensIn("chat.listThreads", place)),
      ...places.flatMap((place) => this.tokensIn("files.list", place)),
      ...threads.flatMap(([thread, { place }]) => this.tokensIn("chat.listMessages", place, thread)),
    ]
  }

  #apply(effect: Effect): void {
    switch (effect.kind) {
      case "member": {
        const roles = this.#roles.get(effect.space) ?? new Map<string, Role>()
        this.#roles.set(effect.space, roles)
        if (effect.role === null) roles.delete(effect.person)
        else roles.set(effect.person, effect.role)
        break
      }
      case "space": {
        const { trashed = false, token = "" } = this.#spaces.get(effect.space) ?? {}
        this.#spaces.set(effect.space, { trashed, token, ...without(effect) })
        break
      }
      case "thread": {
        const known = this.#threads.get(effect.thread) ?? { place: "", author: "", trashed: false, token: "" }
        this.#threads.set(effect.thread, { ...known, ...without(effect) })
        break
      }
      case "message":
        this.#messages.set(effect.message, effect)
        break
      case "message-gone":
        this.#messages.delete(effect.message)
        break
      case "file":
        this.#files.set(effect.file, effect)
        break
      case "acted": {
        const place = this.#threads.get(effect.thread)?.place ?? ""
        const mayAct = this.mayRead(effect.person, place) && this.#roleOf(effect.person, place) !== "reader"
        if (!mayAct) this.unlawful.push(`${effect.person} changed ${effect.thread} in ${place}`)
      }
    }
  }

  #roleOf(person: string, place: string): Role | null {
    return this.#roles.get(place)?.get(person) ?? null
  }
}

/** Without the fields that say which row it is. */
function without<Fields extends { kind: string }>({ kind: _kind, ...fields }: Fields) {
  return fields
}
