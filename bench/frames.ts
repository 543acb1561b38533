import type { Page } from "playwright-core"

/**
 * Returns the milliseconds between frames, and the tasks that blocked rendering for more than 50
 * ms.
 */
export async function framesWhile(page: Page, act: () => Promise<unknown>) {
  const measured = await page.evaluateHandle(() => {
    const frames: number[] = []
    const tasks: number[] = []
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration)
    })
    observer.observe({ type: "longtask" })
    let before = performance.now()
    let isOver = false
    const note = (now: number) => {
      frames.push(now - before)
      before = now
      if (!isOver) requestAnimationFrame(note)
    }
    requestAnimationFrame(note)
    return {
      end() {
        isOver = true
        observer.disconnect()
        return { frames, tasks }
      },
    }
  })
  const cpu = await taskTimesWhile(page, act)
  const { frames, tasks } = await measured.evaluate(({ end }) => end())
  const sorted = frames.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round(sorted[Math.floor(sorted.length * part)] ?? 0)
  return {
    frames: frames.length,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    longest: Math.round(sorted.at(-1) ?? 0),
    longTasks: tasks.map((task) => Math.round(task)),
    cpu,
  }
}

interface TraceEvent {
  name: string
  ph: string
  tid: number
  args: { name?: string }
  /** CPU time of the thread in microseconds, which excludes the load of other processes. */
  tdur?: number
}

/** Returns the CPU time in ms of each task on the page's main thread. */
async function taskTimesWhile(page: Page, act: () => Promise<unknown>) {
  const session = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  session.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["devtools.timeline", "disabled-by-default-devtools.timeline"] },
  })
  await act()
  const complete = new Promise((end) => session.once("Tracing.tracingComplete", end))
  await session.send("Tracing.end")
  await complete
  await session.detach()
  const main = new Set(
    events.filter(({ ph, args }) => ph === "M" && args.name === "CrRendererMain").map(({ tid }) => tid),
  )
  const times = events
    .filter(({ name, ph, tid }) => name === "RunTask" && ph === "X" && main.has(tid))
    .map(({ tdur = 0 }) => tdur / 1000)
  return {
    tasks: times.length,
    total: Math.round(times.reduce((sum, time) => sum + time, 0)),
    longest: Math.round(Math.max(0, ...times)),
    over16: times.filter((time) => time > 16).length,
    over50: times.filter((time) => time > 50).length,
  }
}
