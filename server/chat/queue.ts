/** Items that one side adds and the other reads, each at its own speed. */
export interface Queue<Item> extends AsyncIterable<Item> {
  add(item: Item): void
  /** Called when no more items follow. */
  end(): void
}

/**
 * For one reader. Simpler than a web stream, because a reply passes through in hundreds of chunks.
 */
export function openQueue<Item>(): Queue<Item> {
  const added: Item[] = []
  let isEnded = false
  let waiting: ((result: IteratorResult<Item, undefined>) => void) | null = null

  function answerWaiting() {
    if (!waiting || (added.length === 0 && !isEnded)) return
    waiting(take())
    waiting = null
  }

  function take(): IteratorResult<Item, undefined> {
    const isOver = added.length === 0
    return isOver ? { done: true, value: undefined } : { done: false, value: added.shift() as Item }
  }

  return {
    add(item) {
      if (isEnded) return
      added.push(item)
      answerWaiting()
    },
    end() {
      isEnded = true
      answerWaiting()
    },
    [Symbol.asyncIterator]: () => ({
      next: () =>
        added.length > 0 || isEnded ? Promise.resolve(take()) : new Promise((resolve) => (waiting = resolve)),
      return() {
        isEnded = true
        added.length = 0
        return Promise.resolve({ done: true, value: undefined })
      },
    }),
  }
}
