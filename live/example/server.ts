import { createReadStream } from "node:fs"
import { createServer } from "node:http"
import { createRequestListener } from "@react-router/node"
import type { ServerBuild } from "react-router"
import { realtime } from "./engine.ts"

const build = (await import("virtual:react-router/server-build")) as ServerBuild
const render = createRequestListener({ build })

const server = createServer((request, response) => {
  const [script] = /^\/assets\/[\w.-]+\.js$/.exec(request.url ?? "") ?? []
  if (!script) return render(request, response)
  response.setHeader("content-type", "text/javascript")
  const file = createReadStream(`build/client${script}`).on("error", () => response.destroy())
  file.pipe(response)
})
realtime.attach(server)
server.listen(new URL(process.env["ORIGIN"] ?? "").port)
