import type { Token } from "marked"
import { createContext } from "react"

/**
 * What texts say as Markdown, by the text. Null stands for one that is not to be laid out. A page
 * that is loaded brings those of its answers, so that the browser need not read them again to take
 * the page over, nor have what reads them.
 */
export type Readings = ReadonlyMap<string, readonly Token[] | null>

export const ReadingsContext = createContext<Readings>(new Map())
