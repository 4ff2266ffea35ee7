# syntax=docker/dockerfile:1
#
#   docker build -t fragd .
#   docker run --rm --network host fragd
#   docker run --rm --network host fragd serve +set sv_hostname "Ours" +map oa_dm4
#
# Use the host network: behind a bridge all players may have the gateway's address, and limits per address
# would apply to all of them together. With a bridge, publish the port: `-p 27960:27960/udp`.
# Mount your own configuration over /etc/fragd/fragd.toml.

FROM rust:1-slim-bookworm AS build
WORKDIR /src
COPY . .
# Downloaded crates and compiled dependencies are cached outside the layer, which shortens the next build.
# The binary is copied out of the cache, without line tables for debuggers.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --locked --release --bin fragd \
    && cp target/release/fragd /usr/local/bin/fragd \
    && strip --strip-debug /usr/local/bin/fragd

# C library and its runtime dependencies only: no shell, no package manager.
FROM gcr.io/distroless/cc-debian12:nonroot
LABEL org.opencontainers.image.title="fragd" \
      org.opencontainers.image.description="A headless Quake III Arena dedicated server" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=build /usr/local/bin/fragd /usr/local/bin/fragd
COPY config/fragd.toml /etc/fragd/fragd.toml
COPY LICENSE-MIT LICENSE-APACHE /usr/share/doc/fragd/
USER nonroot:nonroot
EXPOSE 27960/udp
# Query like a server browser: a process that hangs does not answer. With another port, change the check
# too (`--health-cmd`, or `healthcheck` of a compose file).
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 \
    CMD ["/usr/local/bin/fragd", "query", "127.0.0.1"]
ENTRYPOINT ["/usr/local/bin/fragd"]
# No game log file: match events are in the container's log.
CMD ["serve", "--config", "/etc/fragd/fragd.toml", "+set", "g_log", ""]
