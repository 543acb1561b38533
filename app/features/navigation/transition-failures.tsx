import { createContext, useContext } from "react"

/** The nonce of the response that the server is rendering; undefined in the browser. */
export const NonceContext = createContext<string | undefined>(undefined)

// A cross-document view transition is skipped when the window is resized or hidden, or when another
// navigation starts. Its promises then reject before any module of the page has loaded, although
// the page is fine. Pages outside the dashboard have no script that could handle this, so
// navigation to them has no transition. A page that is shown before its transition is ready gets no
// event with it, so that only its rejection is left to handle.
const HANDLE = `for (const type of ["pageswap", "pagereveal"])
  addEventListener(type, ({ viewTransition: transition, activation }) => {
    transition?.ready.catch(() => {});
    transition?.finished.catch(() => {});
    const to = type === "pageswap" && activation?.entry?.url;
    if (to && !/^\\/(dashboard|onboarding)/.test(new URL(to).pathname)) transition?.skipTransition();
  });
addEventListener("unhandledrejection", (event) => {
  if (event.reason instanceof DOMException && /^Transition was /.test(event.reason.message))
    event.preventDefault();
});`

/** Rendered in the head, because `pagereveal` fires before the first frame. */
export function TransitionFailures() {
  const nonce = useContext(NonceContext)
  return <script nonce={nonce} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: HANDLE }} />
}
