#!/bin/sh
# Tells systemd that the service is gone.
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
