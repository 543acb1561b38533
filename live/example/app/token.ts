export const loader = () => Response.json({ token: "guest", userId: "guest", expiresAt: Date.now() + 60_000 })
