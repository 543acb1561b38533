import { index, route, type RouteConfig } from "@react-router/dev/routes"

/** Every address of the product, in one place. */
export default [
  index("routes/marketing/home.tsx"),

  route("api/health", "routes/api/health.ts"),
] satisfies RouteConfig
