# The gateway as an image: one static program, no shell, no right to write but in
# /data. docs/deploy.md says how to run it.
#
#   docker build -t recado .                       # with ffmpeg, which makes of any file what phones can open
#   docker build -t recado:slim --target slim .    # without ffmpeg, under 22 MB compressed with zstd
#
# TMPDIR is a folder that the program makes and empties when it starts: big files that are
# sent from the dashboard go through it, and the image has no /tmp.

# The program is compiled on the machine's own processor for that of the image, so that
# --platform linux/amd64,linux/arm64 emulates nothing but the installation of ffmpeg.
FROM --platform=$BUILDPLATFORM docker.io/library/golang:1.26-bookworm AS build
ARG TARGETOS
ARG TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The profile makes the program faster and the build slower, so nothing but releases is built with it.
ENV GOFLAGS=-pgo=/src/cmd/recado/release.pgo
RUN CGO_ENABLED=0 GOOS=${TARGETOS:-} GOARCH=${TARGETARCH:-} go build -trimpath -ldflags '-s -w' -o /root-of-image/recado ./cmd/recado \
 && mkdir -p /root-of-image/data /root-of-image/etc/ssl/certs \
 && cp /etc/ssl/certs/ca-certificates.crt /root-of-image/etc/ssl/certs/ \
 && chown 65532:65532 /root-of-image/data

FROM scratch AS slim
COPY --from=build /root-of-image/ /
ENV RECADO_LISTEN=0.0.0.0:8080 RECADO_DATA=/data TMPDIR=/data/tmp
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s CMD ["/recado", "health"]
ENTRYPOINT ["/recado"]
CMD ["serve"]

# Of what Debian's ffmpeg brings along, only the libraries that it loads, with their licences: a third of it, and no shell.
FROM docker.io/library/debian:12-slim AS ffmpeg
RUN apt-get update \
 && apt-get install -y --no-install-recommends ffmpeg
RUN mkdir /root-of-ffmpeg \
 && ldd /usr/bin/ffmpeg /usr/bin/ffprobe | grep -o '/[^ :]*' | sort -u | xargs cp --parents -Lt /root-of-ffmpeg \
 && cp --parents /usr/share/doc/*/copyright /root-of-ffmpeg

# The last target is the one that is built if none is named.
FROM slim AS recado
COPY --from=ffmpeg /root-of-ffmpeg/ /
