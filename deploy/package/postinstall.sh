#!/bin/sh
# Makes the user and the folder of the data. The service is started by who wants it:
# systemctl enable --now recado
set -e
getent group recado >/dev/null || groupadd --system recado
getent passwd recado >/dev/null ||
  useradd --system --gid recado --home-dir /var/lib/recado --no-create-home --shell /usr/sbin/nologin recado
install -d -m 0700 -o recado -g recado /var/lib/recado
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart recado.service # after an update
fi
