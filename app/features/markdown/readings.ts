import { createContext } from "react"
import type { Block } from "./tokens.ts"

/**
 * Parsed Markdown, by its text. Null marks a text that is shown as plain text. A loaded page brings
 * those of its replies, so that hydration needs neither to parse them again nor to load the parser.
 */
export type Readings = ReadonlyMap<string, readonly Block[] | null>

export const ReadingsContext = createContext<Readings>(new Map())
