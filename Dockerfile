# botsync as a container: docs/how-to/docker.md
ARG NODE_IMAGE=node:24-trixie-slim

# Builds on the machine's own architecture, for any other.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build
ARG TARGETARCH
RUN node scripts/shipped-tree.js /tree "$(test "$TARGETARCH" = amd64 && echo x64 || echo "$TARGETARCH")" \
    && cp packaging/docker/health-check.js /tree/

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="botsync" \
      org.opencontainers.image.description="Keeps a chat bot's file storage equal to directories on a server" \
      org.opencontainers.image.source="https://github.com/botsync/botsync" \
      org.opencontainers.image.licenses="MIT"
# tini is the first process, for the kernel keeps SIGKILL from that one: botsync could not end itself where a file system hangs.
# Nothing here installs packages, so npm and its kin go.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log \
        /usr/local/lib/node_modules /opt/yarn-* /root/.npm \
        /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg \
    && groupadd --gid 10001 botsync \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/botsync --shell /usr/sbin/nologin botsync \
    && install -d -o botsync -g botsync -m 0700 /var/lib/botsync \
    && install -d /etc/botsync
COPY --from=build /tree /usr/local/lib/botsync
RUN ln -s ../lib/botsync/dist/cli/main.js /usr/local/bin/botsync
ENV BOTSYNC_CONFIG=/etc/botsync/botsync.config.json
# By number, so that Kubernetes can see that it is not root.
USER 10001:10001
WORKDIR /var/lib/botsync
# The records. Nothing else is written.
VOLUME /var/lib/botsync
HEALTHCHECK --interval=30s --timeout=10s --start-period=1m \
    CMD ["node", "/usr/local/lib/botsync/health-check.js"]
ENTRYPOINT ["/usr/bin/tini", "--", "botsync"]
CMD ["sync"]
