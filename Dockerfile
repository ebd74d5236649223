# An image with profiled and profilecli. It has not been run where it was written (there was no Docker): its commands
# are those of `make deb` and `make test-package`, which were.
#
#   docker build -t profilelog --build-arg PROFILELOG_COMMIT=$(scripts/commit.sh) .
FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
        binutils dpkg-dev git liblmdb-dev libnats-dev libssl-dev libcurl4-openssl-dev libyaml-dev zlib1g-dev \
        pkg-config python3 \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
# The folder has no repository: .dockerignore. A time makes the package the same each time.
ARG PROFILELOG_COMMIT=
ARG SOURCE_DATE_EPOCH=0
ENV PROFILELOG_COMMIT=$PROFILELOG_COMMIT SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH
RUN mkdir /package && scripts/deb.sh --into /package

FROM debian:bookworm-slim
COPY --from=build /package/*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/*.deb ca-certificates \
    && rm -rf /var/lib/apt/lists/* /tmp/*.deb
USER profilelog
VOLUME /var/lib/profilelog
EXPOSE 8080
# Other machines reach a container's port, so it asks for keys: `profiled keys add` makes the first one, and the store.
# --store is given here and not by the configuration of the package, which a volume may replace.
CMD ["profiled", "serve", "--config", "/etc/profilelog/profiled.yaml", "--store", "/var/lib/profilelog", \
     "--host", "0.0.0.0", "--expect-store"]
