export const author = { name: "The Tideline project", image: "/favicon.svg" }
