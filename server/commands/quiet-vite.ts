// React Router 7 creates its inner Vite servers with `envFile: false`, and Vite 8 prints a deprecation for each. Nothing here can
// answer that; React Router 8 has. Import this before either of them runs.

const { warn } = console

console.warn = (...words: unknown[]) => {
  if (!String(words[0]).includes("The `envFile` option is deprecated")) warn(...words)
}

// Before a message that repeats, Vite clears the terminal, except under continuous integration.
process.env["CI"] ??= "false"
