import { createRequire } from "node:module"

// The same endpoint in Fastify, which the bench installs itself.

interface Fastify {
  get(path: string, handler: () => object): void
  listen(options: { port: number; host: string }): Promise<string>
}

const [port, peers = ""] = process.argv.slice(2)
const fastify = createRequire(peers)("fastify") as () => Fastify

const app = fastify()
app.get("/api/health", () => ({
  status: "ok",
  timestamp: new Date().toISOString(),
  uptime: process.uptime(),
}))
await app.listen({ port: Number(port), host: "127.0.0.1" })
