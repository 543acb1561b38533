import { createServer, request } from "node:http"

// Run as a program: forwards the bytes of the upstream without parsing them.

const [upstream, port] = process.argv.slice(2).map(Number) as [number, number]

const server = createServer((incoming, outgoing) => {
  const onward = request(
    { port: upstream, host: "127.0.0.1", method: "POST", path: "/v1/chat/completions" },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, { "content-type": "text/event-stream" })
      answer.pipe(outgoing)
    },
  )
  onward.setHeader("content-type", "application/json")
  onward.on("error", () => outgoing.destroy())
  incoming.pipe(onward)
})
server.keepAliveTimeout = 65_000 // as Tideline's: no reader picks a connection that is just being closed
server.listen({ port, host: "127.0.0.1", backlog: 4096 })
