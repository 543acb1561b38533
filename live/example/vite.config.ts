import { reactRouter } from "@react-router/dev/vite"

const environments = { ssr: { build: { rollupOptions: { input: "./server.ts" } } } }
export default { plugins: [reactRouter()], environments }
