/**
 * Lets `width` pieces of work under one key go on at a time; the others wait here, in the order in
 * which they came, and hold nothing while they wait.
 */
export function createLines(width: number) {
  const lines = new Map<string, { busy: number; waiting: (() => void)[] }>()

  return async function inLine<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const line = lines.get(key) ?? { busy: 0, waiting: [] }
    lines.set(key, line)
    if (line.busy < width) line.busy++
    else await new Promise<void>((resolve) => line.waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = line.waiting.shift()
      if (next) next()
      else if (--line.busy === 0) lines.delete(key)
    }
  }
}
