import type { Token } from "marked"
import type { ReplyPart } from "#server/chat/contract.ts"
import { createBlockReader } from "./blocks.ts"
import { DEEPEST } from "./markdown.tsx"
import type { Readings } from "./readings.ts"

interface Said {
  role: "user" | "assistant"
  parts: readonly ReplyPart[]
  status?: string | null | undefined
}

/** Parses the replies of a conversation for the page that shows them. */
export function readReplies(bubbles: readonly Said[]): Readings {
  const readings = new Map<string, readonly Token[] | null>()
  for (const { role, parts, status } of bubbles) {
    if (role !== "assistant") continue
    for (const [place, part] of parts.entries()) {
      if (part.type !== "text" || readings.has(part.text)) continue
      const isGrowing = status === "running" && place === parts.length - 1
      const blocks = createBlockReader().read(part.text, { isGrowing })
      readings.set(part.text, isGrowing ? blocks : (blocks?.map((block) => lighten(block, 0)) ?? null))
    }
  }
  return readings
}

/**
 * Drops the source of tokens that are rendered from their inner tokens: nothing shows it, and the
 * page would carry every word three times.
 */
function lighten<Node>(node: Node, depth: number): Node {
  if (Array.isArray(node)) return node.map((inner: unknown) => lighten(inner, depth)) as Node
  if (typeof node !== "object" || node === null) return node
  const kept = Object.entries(node).filter(
    ([name, value]) => value !== undefined && !isIdle(node, name, depth),
  )
  return Object.fromEntries(kept.map(([name, value]) => [name, lighten(value, depth + 1)])) as Node
}

function isIdle(node: object, name: string, depth: number) {
  // Tokens that are nested too deeply to render are shown by their source. So are those without a
  // renderer, such as HTML, which hold no inner tokens.
  if (name === "raw") return depth < DEEPEST && ("tokens" in node || "items" in node || "rows" in node)
  return name === "text" && "tokens" in node && !("href" in node)
}
