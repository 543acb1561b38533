export interface ToastWords {
  title: string
  description?: string
  tone?: "danger"
  /** Offers to take the act back; the toast then stays longer. */
  undo?: () => void
}

/** Where toasts are shown, once there is such a place. */
export interface ToastPlace {
  show(id: string, words: ToastWords): void
  close(id: string): void
}

/**
 * Takes toasts from the first moment of a page; those from before there is a place for them wait
 * for it.
 */
export class ToastQueue {
  #place: ToastPlace | null = null
  #waiting = new Map<string, ToastWords>()
  #count = 0
  #ask: () => void = () => {}

  show = (words: ToastWords): string => {
    const id = `toast-${++this.#count}`
    if (this.#place) this.#place.show(id, words)
    else {
      this.#waiting.set(id, words)
      this.#ask()
    }
    return id
  }

  close = (id: string): void => {
    this.#waiting.delete(id)
    this.#place?.close(id)
  }

  /** Calls `ask` when a toast waits for a place. */
  whenWaiting = (ask: () => void): void => {
    this.#ask = ask
  }

  /** Returns the function that takes the place away again. */
  showAt = (place: ToastPlace) => {
    this.#place = place
    for (const [id, words] of this.#waiting) place.show(id, words)
    this.#waiting.clear()
    return () => void (this.#place = null)
  }
}
