import { resolve } from "node:path"
import { buildApp } from "./bundle.ts"

await buildApp(resolve(import.meta.dirname, "../.."))
