/** What this browser stores about an upload until it has ended, so that it survives a reload. */
export interface Unfinished {
  id: string
  userId: string
  /** The page that is sending it. */
  page: string
  name: string
  size: number
  /** Milliseconds. Identifies the file, together with its name and size. */
  lastModified: number
  /** Where it goes; what is personal without it. */
  spaceId?: string | undefined
  /** When it was chosen, in milliseconds. */
  since: number
  /** Bytes that the server had stored. */
  kept: number
  url?: string | undefined
  handle?: FileSystemFileHandle | undefined
  /** It was cancelled, but the server could not be reached yet. */
  isDiscarded?: true
}

const NAME = "tideline-uploads"
const STORE = "unfinished"

/** Milliseconds. The server has deleted them by then. */
const FORGOTTEN_AFTER = 7 * 24 * 60 * 60 * 1000

/**
 * Uses IndexedDB, because file handles can be stored nowhere else. If the browser stores nothing,
 * uploads work but cannot be resumed after a reload.
 */
export function openUnfinishedUploads(page: string) {
  let opening: Promise<IDBDatabase | null> | undefined
  const open = () => (opening ??= openDatabase().catch(() => null))

  async function write(work: (store: IDBObjectStore) => void): Promise<void> {
    const database = await open()
    if (!database) return
    try {
      const transaction = database.transaction(STORE, "readwrite")
      work(transaction.objectStore(STORE))
      await ended(transaction)
    } catch {
      // The disk is full, or the browser stores nothing for this site.
    }
  }

  return {
    keep: (uploads: readonly Unfinished[]) =>
      write((store) => {
        for (const upload of uploads) store.put(upload)
      }),
    forget: (ids: readonly string[]) =>
      write((store) => {
        for (const id of ids) store.delete(id)
      }),
    /** Holds a lock until this page is closed, which shows other tabs that it is running. */
    hold: () => void navigator.locks?.request(lockOf(page), () => new Promise(() => {})),
    /** Takes over the user's uploads whose page has been closed. */
    async takeOver(userId: string): Promise<Unfinished[]> {
      const database = await open()
      // Without locks there is no way to know which of them another tab is sending.
      if (!database || !navigator.locks) return []
      return navigator.locks.request(NAME, async () => {
        const { held = [] } = await navigator.locks.query()
        const working = new Set(held.map(({ name }) => name))
        const all = (await read(database)).filter((upload) => !working.has(lockOf(upload.page)))
        const old = all.filter(({ since }) => since < Date.now() - FORGOTTEN_AFTER)
        await write((store) => {
          for (const { id } of old) store.delete(id)
        })
        const left = all
          .filter((upload) => upload.userId === userId && !old.includes(upload))
          .toSorted((one, other) => one.since - other.since)
        for (const upload of left) upload.page = page
        await write((store) => {
          for (const upload of left) store.put(upload)
        })
        return left
      })
    },
  }
}

function lockOf(page: string): string {
  return `${NAME} ${page}`
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, 1)
  request.addEventListener("upgradeneeded", () => {
    request.result.createObjectStore(STORE, { keyPath: "id" })
  })
  return answered(request)
}

function read(database: IDBDatabase): Promise<Unfinished[]> {
  const all: IDBRequest<Unfinished[]> = database.transaction(STORE).objectStore(STORE).getAll()
  return answered(all).catch(() => [])
}

function answered<Answer>(request: IDBRequest<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result))
    request.addEventListener("error", () => reject(request.error ?? new Error("IndexedDB gave no answer.")))
  })
}

function ended(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve())
    transaction.addEventListener("abort", () => reject(transaction.error ?? new Error("IndexedDB gave up.")))
  })
}
