#!/bin/sh
# Installs recado from the archive of a release, after checking it against checksums.txt of the
# same place.
#
#   RECADO_DOWNLOADS   address of the files: of the newest release, unless it says another
#   RECADO_INSTALL_TO  folder of the program: ~/.local/bin, or /usr/local/bin for root
set -eu

downloads=${RECADO_DOWNLOADS:-https://github.com/recado-project/recado/releases/latest/download}
if [ "$(id -u)" = 0 ]; then to=/usr/local/bin; else to=${HOME:?}/.local/bin; fi
to=${RECADO_INSTALL_TO:-$to}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "there is no archive for $(uname -s) that this script can install" ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=amd64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) fail "there is no archive for the processor $(uname -m)" ;;
esac

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fetch() {
  if command -v curl >/dev/null; then
    curl -fsSL --retry 2 -o "$folder/$1" "$downloads/$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$folder/$1" "$downloads/$1"
  else
    fail "neither curl nor wget is installed"
  fi || fail "can't download $downloads/$1"
}

fetch checksums.txt
archive=$(awk -v end="_${system}_$machine.tar.gz" \
  '$2 ~ /^recado_[0-9A-Za-z.+~-]+_[a-z]+_[a-z0-9]+\.tar\.gz$/ && substr($2, length($2) - length(end) + 1) == end { print $2; exit }' \
  "$folder/checksums.txt")
[ -n "$archive" ] || fail "checksums.txt names no archive for $system on $machine"
fetch "$archive"

want=$(awk -v name="$archive" '$2 == name { print $1; exit }' "$folder/checksums.txt")
if command -v sha256sum >/dev/null; then
  got=$(sha256sum "$folder/$archive")
else
  got=$(shasum -a 256 "$folder/$archive")
fi
got=${got%% *}
[ "$got" = "$want" ] || fail "$archive has the checksum $got, and checksums.txt says $want: nothing was installed"

tar -xzf "$folder/$archive" -C "$folder" recado || fail "$archive has no program"
mkdir -p "$to"
# A program that runs can't be overwritten, but another file can take its name.
cp "$folder/recado" "$to/.recado.new"
chmod 755 "$to/.recado.new"
mv "$to/.recado.new" "$to/recado"
echo "recado is installed in $to; try: $to/recado dev"
