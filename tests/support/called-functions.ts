import type { TidelineApp } from "./app.ts"

/**
 * Lets `calledWhile` ask the server which of its functions run. For the environment of
 * `startTideline`.
 */
export const OBSERVED = { NODE_OPTIONS: "--inspect=127.0.0.1:0" }

/**
 * Opens the inspector of a server that was started with OBSERVED.
 * `calledWhile` resolves to the names of the server's functions that were called while `work` ran.
 */
export async function openObserver(app: Pick<TidelineApp, "log">) {
  const line = app.log.find((entry) => entry.startsWith("Debugger listening on "))
  const address = /ws:\S+/.exec(line ?? "")?.[0]
  if (address === undefined) throw new Error(`The server offers no inspector:\n${app.log.join("\n")}`)
  const socket = new WebSocket(address)
  await new Promise((open, failed) => {
    socket.addEventListener("open", open)
    socket.addEventListener("error", failed)
  })
  let lastId = 0
  const waiting = new Map<number, (result: Coverage) => void>()
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: Coverage }
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  const send = (method: string, params = {}) =>
    new Promise<Coverage>((answered) => {
      waiting.set(++lastId, answered)
      socket.send(JSON.stringify({ id: lastId, method, params }))
    })
  await send("Profiler.enable")
  await send("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
  return {
    async calledWhile(work: () => Promise<unknown>): Promise<Set<string>> {
      await send("Profiler.takePreciseCoverage") // reading the counts resets them
      await work()
      const { result } = await send("Profiler.takePreciseCoverage")
      const called = result
        .filter(({ url }) => url.includes("/build/server/"))
        .flatMap(({ functions }) => functions)
        .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      // The bundler numbers functions that share a name.
      return new Set(called.map(({ functionName }) => functionName.replace(/\$\d+$/, "")))
    },
    close: () => socket.close(),
  }
}

interface Coverage {
  result: { url: string; functions: { functionName: string; ranges: { count: number }[] }[] }[]
}
