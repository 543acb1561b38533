import "./quiet-vite.ts"

// React Router's command line: node server/commands/react-router.ts typegen

await import(new URL("../../node_modules/@react-router/dev/bin.js", import.meta.url).href)
