# syntax=docker/dockerfile:1
#
#   docker build -t fragd .
#   docker run --rm --network host fragd
#   docker run --rm --network host fragd serve +set sv_hostname "Ours" +map oa_dm4
#
# The host's network, since behind a bridge every player may appear to come from the gateway, and
# limits per address would then hit all of them together. Where a bridge has to be:
# `-p 27960:27960/udp`. A configuration of one's own is mounted over /etc/fragd/fragd.toml.

FROM rust:1-slim-bookworm AS build
WORKDIR /src
COPY . .
# Downloaded crates and compiled dependencies outlive the layer, so that the next build is short.
# The binary is copied out of the cache, without the line tables that only a debugger wants.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --locked --release --bin fragd \
    && cp target/release/fragd /usr/local/bin/fragd \
    && strip --strip-debug /usr/local/bin/fragd

# Only the C library and what Rust's runtime needs of it: no shell, no package manager.
FROM gcr.io/distroless/cc-debian12:nonroot
LABEL org.opencontainers.image.title="fragd" \
      org.opencontainers.image.description="A headless Quake III Arena dedicated server" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=build /usr/local/bin/fragd /usr/local/bin/fragd
COPY config/fragd.toml /etc/fragd/fragd.toml
COPY LICENSE-MIT LICENSE-APACHE /usr/share/doc/fragd/
USER nonroot:nonroot
EXPOSE 27960/udp
# Asks as a server browser does: a process that hangs does not answer. Who changes the port changes
# this too (`--health-cmd`, or `healthcheck` of a compose file).
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 \
    CMD ["/usr/local/bin/fragd", "query", "127.0.0.1"]
ENTRYPOINT ["/usr/local/bin/fragd"]
# The game log is a file of its own; here what matters goes to the container's log.
CMD ["serve", "--config", "/etc/fragd/fragd.toml", "+set", "g_log", ""]
