#!/bin/sh
# Stops the service when the package goes, and not when another version takes its place: Debian
# says "upgrade" then, and RPM how many versions stay. The data and its user stay.
set -e
case "${1:-}" in
  remove | 0)
    if [ -d /run/systemd/system ]; then systemctl disable --now recado.service; fi
    ;;
esac
