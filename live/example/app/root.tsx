import { Outlet, Scripts } from "react-router"
import { LiveProvider } from "#live/react"

export default () => (
  <html lang="en">
    <body>
      <LiveProvider userId="guest">
        <Outlet />
      </LiveProvider>
      <Scripts />
    </body>
  </html>
)
