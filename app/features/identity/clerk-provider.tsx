import { ClerkProvider } from "@clerk/react-router"
import type { ReactNode } from "react"

export default function Provider({ state, children }: { state: unknown; children: ReactNode }) {
  return <ClerkProvider loaderData={{ clerkState: state }}>{children}</ClerkProvider>
}
