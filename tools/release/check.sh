#!/usr/bin/env bash
# Checks what the release has put into dist/: the sums, every system, and the packages, whose
# program is run. A reader that is not installed here is named.
set -euo pipefail
cd "$(dirname "$0")/../../dist"
fail() { echo "release: $*" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

library=$(go -C .. list -m -f '{{.Path}}@{{.Version}}' go.mau.fi/whatsmeow)

sha256sum --quiet --check checksums.txt
[ -s provenance.json ] || fail "nothing says where the files come from"
[ -s recado.rb ] || fail "there is no formula for Homebrew"
for machine in ${RELEASE_MACHINES:-linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64 windows_arm64}; do
  archive=$(compgen -G "recado_*_$machine.[tz]*") || fail "there is no archive for $machine"
  parts=${archive%_"$machine".*}_$machine.cdx.json
  grep -qF "\"pkg:golang/$library?type=module\"" "$parts" || fail "$parts does not name $library"
  for file in "$archive" "$parts"; do
    grep -qF "  $file" checksums.txt || fail "checksums.txt lacks $file"
    grep -qF "\"$file\"" provenance.json || fail "provenance.json lacks $file"
  done
done

files='/etc/recado/recado.env /usr/bin/recado /usr/lib/systemd/system/recado.service
  /usr/lib/systemd/system/recado.service.d/package.conf'
present() { # PROGRAM KIND names a reader, or says what is left out
  command -v "$1" >/dev/null || { echo "release: $1 is not installed, so $2 was not checked"; return 1; }
}

for package in recado_*_linux_*.deb; do
  present dpkg-deb "$package" || continue
  dpkg-deb --fsys-tarfile "$package" | tar -t | sed 's|^\.\{0,1\}/*|/|' >"$scratch/files"
  for file in $files /usr/share/doc/recado/copyright /usr/share/doc/recado/changelog.Debian.gz; do grep -qxF "$file" "$scratch/files" || fail "$package lacks $file"; done
  [ "$(dpkg-deb --field "$package" Recommends)" = ffmpeg ] || fail "$package does not recommend ffmpeg"
  dpkg-deb --info "$package" conffiles | grep -qxF /etc/recado/recado.env || fail "$package would overwrite the settings"
  if present lintian "$package's form"; then lintian --allow-root --fail-on error "$package" || fail "lintian has errors of $package"; fi
  if [ "$(dpkg-deb --field "$package" Architecture)" = "$(dpkg --print-architecture)" ]; then
    dpkg-deb --extract "$package" "$scratch/unpacked"
    "$scratch/unpacked/usr/bin/recado" version
  fi
done
for package in recado_*_linux_*.rpm; do
  present rpm "$package" || continue
  rpm -qlp "$package" 2>/dev/null >"$scratch/files"
  for file in $files /usr/share/licenses/recado/LICENSE; do grep -qxF "$file" "$scratch/files" || fail "$package lacks $file"; done
  rpm -qp --configfiles "$package" 2>/dev/null | grep -qxF /etc/recado/recado.env || fail "$package would overwrite the settings"
done
echo "release: what is in dist/ is whole"
