import { startTransition, useEffect, useState } from "react"

let wasTakenOver = false

/**
 * False on the server and during hydration, so that both render the same. Turns true in a
 * transition, so that the update does not block.
 */
export function useHydrated(): boolean {
  const [isHydrated, setHydrated] = useState(wasTakenOver)
  useEffect(() => {
    wasTakenOver = true
    startTransition(() => setHydrated(true))
  }, [])
  return isHydrated
}
