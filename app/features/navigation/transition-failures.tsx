import { createContext, useContext } from "react"

/** Of the response that the server is rendering; undefined in the browser. */
export const NonceContext = createContext<string | undefined>(undefined)

// A view transition between two documents that is skipped rejects its promises, before any module of the page has loaded: the window was
// resized or hidden, or another navigation came. The page itself is there all the same.
const HANDLE = `for (const type of ["pageswap", "pagereveal"])
  addEventListener(type, ({ viewTransition: transition }) => {
    transition?.ready.catch(() => {});
    transition?.finished.catch(() => {});
  });`

/** Stands in the head, because `pagereveal` comes before the first frame. */
export function TransitionFailures() {
  const nonce = useContext(NonceContext)
  return <script nonce={nonce} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: HANDLE }} />
}
