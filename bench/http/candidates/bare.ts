import { readFileSync } from "node:fs"
import { createServer } from "node:http"

// The upper limit: node:http sending prepared bytes.

const [port, recorded = "{}"] = process.argv.slice(2)
const answers = new Map<string, { type: string; body: Buffer }>()
for (const [path, { type, file }] of Object.entries(
  JSON.parse(recorded) as Record<string, { type: string; file: string }>,
)) {
  answers.set(path, { type, body: readFileSync(file) })
}

const server = createServer((request, response) => {
  if (request.url === "/api/health") {
    const body = JSON.stringify({
      status: "ok",
      timestamp: new Date().toISOString(),
      uptime: process.uptime(),
    })
    response.writeHead(200, {
      "content-type": "application/json; charset=utf-8",
      "content-length": body.length,
    })
    response.end(body)
    return
  }
  const answer = answers.get(request.url ?? "")
  if (!answer) return void response.writeHead(404, { "content-length": 0 }).end()
  response.writeHead(200, { "content-type": answer.type, "content-length": answer.body.length })
  response.end(answer.body)
})
server.listen(Number(port), "127.0.0.1")
