# syntax=docker/dockerfile:1
#
#   docker build -t fragd .
#   docker run --rm --network host fragd
#   docker run --rm --network host fragd serve +set sv_hostname "Ours" +map oa_dm4
#   docker run --rm --network host -v /usr/share/games/openarena:/srv/games:ro fragd
#
# Use the host network: behind a bridge all players may have the gateway's address, and limits per address
# would apply to all of them together. With a bridge, publish the port: `-p 27960:27960/udp`.
# Mount your own configuration over /etc/fragd/fragd.toml, and game data at /srv/games: the folder that contains
# baseoa or baseq3. The game log and other files are written to the volume /var/lib/fragd.
# `--build-arg COMMIT=$(git rev-parse HEAD)` adds the commit to `fragd --version`.

FROM rust:1-slim-bookworm AS build
ARG COMMIT=
WORKDIR /src
COPY . .
# Downloaded crates and compiled dependencies are cached outside the layer, which shortens the next build.
# The binary is copied out of the cache, without line tables for debuggers.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    FRAGD_COMMIT="$COMMIT" cargo build --locked --profile dist --features compiler --bin fragd \
    && cp target/dist/fragd /usr/local/bin/fragd \
    && strip --strip-debug /usr/local/bin/fragd
# Without a game log file: match events are in the container's log.
RUN mkdir -p /image/var/lib/fragd /image/srv/games /image/etc/fragd \
    && sed 's/^#g_log = .*/g_log = ""/' config/fragd.toml > /image/etc/fragd/fragd.toml \
    && grep -qx 'g_log = ""' /image/etc/fragd/fragd.toml

# C library and its runtime dependencies only: no shell, no package manager.
FROM gcr.io/distroless/cc-debian12:nonroot
LABEL org.opencontainers.image.title="fragd" \
      org.opencontainers.image.description="A headless Quake III Arena dedicated server" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=build /usr/local/bin/fragd /usr/local/bin/fragd
COPY --from=build /image/etc /etc
COPY --from=build /image/srv /srv
COPY --from=build --chown=nonroot:nonroot /image/var/lib/fragd /var/lib/fragd
COPY LICENSE-MIT LICENSE-APACHE /usr/share/doc/fragd/
USER nonroot:nonroot
WORKDIR /var/lib/fragd
VOLUME /var/lib/fragd
# Other arguments replace the command below and keep configuration and game data.
ENV FRAGD_CONFIG=/etc/fragd/fragd.toml \
    FRAGD_BASEPATH=/srv/games \
    STATE_DIRECTORY=/var/lib/fragd
EXPOSE 27960/udp
# Query like a server browser, on the port that process 1 uses: a process that hangs does not answer.
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 \
    CMD ["/usr/local/bin/fragd", "query", "--pid", "1"]
ENTRYPOINT ["/usr/local/bin/fragd"]
CMD ["serve"]
