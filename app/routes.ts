import { index, layout, route, type RouteConfig } from "@react-router/dev/routes"

/** Every URL of the product. */
export default [
  // Public pages
  layout("routes/marketing/layout.tsx", [
    index("routes/marketing/home.tsx"),
    route("features", "routes/marketing/features.tsx"),
    route("pricing", "routes/marketing/pricing.tsx"),
    route("about", "routes/marketing/about.tsx"),
    route("docs/search", "routes/docs/search.tsx"),
    route("docs/:page", "routes/docs/page.tsx"),
    route("blog", "routes/blog/index.tsx"),
    route("blog/:slug", "routes/blog/post.tsx"),
    route("privacy", "routes/legal/privacy.tsx"),
    route("terms", "routes/legal/terms.tsx"),
    route("cookies", "routes/legal/cookies.tsx"),
  ]),
  route("docs", "routes/docs/redirect.ts"),
  route("blog/feed.xml", "routes/blog/feed.ts"),
  route("theme", "routes/theme.ts"),
  route("language", "routes/language.ts"),
  route("demo", "routes/marketing/demo.ts"),

  // Sign-in and sign-up
  layout("routes/auth/layout.tsx", [
    route("sign-in/code", "routes/auth/enter-code.tsx"),
    route("sign-in/forgot-password", "routes/auth/forgot-password.tsx"),
    route("sign-in/new-password", "routes/auth/new-password.tsx"),
    route("sign-in/new-address", "routes/auth/new-address.tsx"),
    route("sign-up/confirm", "routes/auth/confirm-address.tsx"),
    route("sign-in/*", "routes/auth/sign-in.tsx"),
    route("sign-up/*", "routes/auth/sign-up.tsx"),
    route("second-factor", "routes/auth/second-factor.tsx"),
  ]),
  route("sign-in/passkey", "routes/auth/passkey.ts"),
  route("sign-in/with/:provider", "routes/auth/provider/begin.ts"),
  route("sign-in/with/:provider/callback", "routes/auth/provider/callback.ts"),
  route("sign-out/with/:provider", "routes/auth/provider/sign-out.ts"),
  route("api/sso/:provider/logout", "routes/auth/provider/back-channel-logout.ts"),
  route("sign-out", "routes/auth/sign-out.ts"),
  route("api/auth/*", "routes/api/auth.ts"),
  route("api/realtime/token", "routes/api/realtime-token.ts"),

  // The HTTP API
  route("api/health", "routes/api/health.ts"),
  route("api/email", "routes/api/email.ts"),
  route("api/chat", "routes/api/chat.ts"),
  route("api/chat/threads/:threadId/export", "routes/api/chat-export.ts"),
  route("api/chat/:threadId/stream", "routes/api/chat-stream.ts"),
  route("api/openapi.json", "routes/api/openapi.ts"),
  route("api/realtime.json", "routes/api/realtime-document.ts"),
  route("api/files", "routes/api/files.ts"),
  route("api/files/archive", "routes/api/file-archive.ts"),
  route("api/files/uploads", "routes/api/file-uploads.ts"),
  route("api/files/uploads/:uploadId", "routes/api/file-upload.ts"),
  route("api/files/:fileId", "routes/api/file.ts"),
  route("api/files/:fileId/thumbnail", "routes/api/file-thumbnail.ts"),
  route("api/spaces/:spaceId/picture", "routes/api/space-picture.ts"),
  route("api/webhooks/clerk", "routes/api/clerk-webhook.ts"),
  // Where the API has no operation
  route("api/*", "routes/api/unknown.ts"),
  route("trpc/*", "routes/api/unknown.ts", { id: "routes/api/unknown-procedure" }),

  route("dashboard/files/:fileId/pdf", "routes/dashboard/files/pdf.tsx"),
  route("dashboard/account/export", "routes/dashboard/account/export.ts"),
  route("dashboard/account/picture/:pictureId", "routes/dashboard/account/picture.ts"),

  // The dashboard group: requires sign-in and a record, and onboarding for everything inside the
  // shell
  layout("routes/dashboard/layout.tsx", [
    layout("routes/dashboard/shell.tsx", [
      layout("routes/dashboard/pages.tsx", [
        layout("routes/dashboard/chat/layout.tsx", [
          route("dashboard/chat", "routes/dashboard/chat/new.tsx"),
          route("dashboard/chat/:threadId", "routes/dashboard/chat/thread.tsx"),
        ]),
        route("dashboard", "routes/dashboard/home.tsx"),
        route("dashboard/account", "routes/dashboard/account/page.tsx"),
        route("dashboard/account/security", "routes/dashboard/account/security.tsx"),
        route("dashboard/files", "routes/dashboard/files/list.tsx"),
        route("dashboard/files/trash", "routes/dashboard/files/trash.tsx"),
        route("dashboard/spaces", "routes/dashboard/spaces/page.tsx"),
        route("dashboard/notifications", "routes/dashboard/notifications/page.tsx"),
        route("dashboard/*", "routes/dashboard/not-found.tsx"),
        // What is in a space
        route("s/:slug", "routes/dashboard/spaces/layout.tsx", [
          index("routes/dashboard/spaces/home.tsx"),
          layout("routes/dashboard/chat/layout.tsx", { id: "routes/dashboard/spaces/chat/layout" }, [
            route("chat", "routes/dashboard/chat/new.tsx", { id: "routes/dashboard/spaces/chat/new" }),
            route("chat/:threadId", "routes/dashboard/chat/thread.tsx", {
              id: "routes/dashboard/spaces/chat/thread",
            }),
          ]),
          route("files", "routes/dashboard/files/list.tsx", { id: "routes/dashboard/spaces/files/list" }),
          route("files/trash", "routes/dashboard/files/trash.tsx", {
            id: "routes/dashboard/spaces/files/trash",
          }),
          route("members", "routes/dashboard/spaces/members.tsx"),
          route("settings", "routes/dashboard/spaces/settings.tsx"),
          route("*", "routes/dashboard/not-found.tsx", { id: "routes/dashboard/spaces/not-found" }),
        ]),
      ]),
    ]),
    route("onboarding", "routes/dashboard/onboarding.tsx"),
  ]),

  // Operators only; everyone else gets 404
  layout("routes/admin/layout.tsx", [
    route("admin", "routes/admin/overview.tsx"),
    route("admin/people", "routes/admin/people.tsx"),
    route("admin/spaces", "routes/admin/spaces.tsx"),
    route("admin/waitlist", "routes/admin/waitlist.tsx"),
    route("admin/emails", "routes/admin/emails.tsx"),
    route("admin/live", "routes/admin/live.tsx"),
    route("admin/servers", "routes/admin/servers.tsx"),
    route("admin/history", "routes/admin/history.tsx"),
    route("admin/security", "routes/admin/security.tsx"),
  ]),
  route("admin/waitlist/export", "routes/admin/waitlist-export.ts"),

  // Generated
  route("sitemap.xml", "routes/generated/sitemap.ts"),
  route("robots.txt", "routes/generated/robots.ts"),
  route(".well-known/security.txt", "routes/generated/security-contact.ts"),

  route("waitlist", "routes/site/waitlist.tsx"),
  route("waitlist/confirm", "routes/site/waitlist-confirm.tsx"),

  // Shared files and conversations, for anyone with the link
  route("share/:token", "routes/share/page.tsx"),
  route("share/:token/download", "routes/share/download.ts"),
  route("share/:token/preview", "routes/share/preview.ts"),
  route("share/chat/:token", "routes/shared-conversation/page.tsx"),
  route("share/chat/:token/events", "routes/shared-conversation/events.ts"),

  // Invitations to spaces, for anyone with the link
  route("join/:token", "routes/join/page.tsx"),

  // Unknown URLs, so that the guard sees them too.
  route("*", "routes/site/not-found.tsx"),
] satisfies RouteConfig
