import { index, route } from "@react-router/dev/routes"
export default [index("home.tsx"), route("api/realtime/token", "token.ts")]
