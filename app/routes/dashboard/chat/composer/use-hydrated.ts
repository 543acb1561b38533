import { startTransition, useEffect, useState } from "react"

let wasTakenOver = false

/**
 * False on the server and while the browser takes its page over, so that both draw the same; true
 * from then on, drawn in pieces.
 */
export function useHydrated(): boolean {
  const [isHydrated, setHydrated] = useState(wasTakenOver)
  useEffect(() => {
    wasTakenOver = true
    startTransition(() => setHydrated(true))
  }, [])
  return isHydrated
}
