import { createContext, useContext } from "react"

/** Of the response that the server is rendering; undefined in the browser. */
export const NonceContext = createContext<string | undefined>(undefined)

// A view transition between two documents that is skipped rejects its promises, before any module
// of the page has loaded: the window was resized or hidden, or another navigation came. The page
// itself is there all the same. Pages outside the dashboard have no script to hear that, so the way
// there has no transition.
const HANDLE = `for (const type of ["pageswap", "pagereveal"])
  addEventListener(type, ({ viewTransition: transition, activation }) => {
    transition?.ready.catch(() => {});
    transition?.finished.catch(() => {});
    const to = type === "pageswap" && activation?.entry?.url;
    if (to && !/^\\/(dashboard|onboarding)/.test(new URL(to).pathname)) transition?.skipTransition();
  });`

/** Stands in the head, because `pagereveal` comes before the first frame. */
export function TransitionFailures() {
  const nonce = useContext(NonceContext)
  return <script nonce={nonce} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: HANDLE }} />
}
