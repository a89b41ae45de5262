#!/usr/bin/env bash
# Runs a command with a Docker daemon of its own, which has the image recado of this source and no network but the machine's, and
# leaves nothing behind. It needs root, Go, and the Debian packages buildah and docker.io. The command may write into the folder $SCRATCH.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)

SCRATCH=$(mktemp -d)
daemon=
finish() {
  if [ -n "$daemon" ]; then
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" || true
    umount "$SCRATCH"/run/netns/* 2>/dev/null || true # it leaves a namespace
  fi
  rm -rf "$SCRATCH"
}
trap finish EXIT
export SCRATCH DOCKER_HOST=unix://$SCRATCH/docker.sock
export TESTCONTAINERS_RYUK_DISABLED=true # that image would have to be downloaded

# The packets of the machine are none of its business: ports of containers are forwarded by a process.
dockerd --data-root "$SCRATCH/data" --exec-root "$SCRATCH/run" --pidfile "$SCRATCH/pid" --host "$DOCKER_HOST" \
  --iptables=false --ip6tables=false >"$SCRATCH/log" 2>&1 &
daemon=$!

# What the first stage of the Dockerfile makes, without its base image, which would have to be downloaded.
made=$SCRATCH/build/root-of-image
mkdir -p "$made/data" "$made/etc/ssl/certs"
CGO_ENABLED=0 go -C "$repository" build -trimpath -ldflags '-s -w' -o "$made/recado" ./cmd/recado
cp /etc/ssl/certs/ca-certificates.crt "$made/etc/ssl/certs/"
chown 65532:65532 "$made/data"
echo '{"default":[{"type":"insecureAcceptAnything"}]}' >"$SCRATCH/policy.json"
image=(--storage-driver vfs --root "$SCRATCH/store" --runroot "$SCRATCH/storing")
mkdir "$SCRATCH/empty"
buildah "${image[@]}" build --quiet --isolation chroot --format docker --signature-policy "$SCRATCH/policy.json" \
  --build-arg TARGETOS= --build-arg TARGETARCH= --build-context build="$SCRATCH/build" --target slim --tag localhost/recado --file "$repository/Dockerfile" "$SCRATCH/empty" >/dev/null
buildah "${image[@]}" push --quiet --signature-policy "$SCRATCH/policy.json" localhost/recado "docker-archive:$SCRATCH/recado.tar:recado"

until docker version >/dev/null 2>&1; do
  kill -0 "$daemon" 2>/dev/null || { cat "$SCRATCH/log" >&2; exit 1; }
  sleep 0.1
done
docker load --quiet --input "$SCRATCH/recado.tar" >/dev/null
"$@"
