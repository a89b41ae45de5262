"""Reminds customers of their appointments of tomorrow, or of the day that is given. Run it as often as you like, such
as every hour, or again after a failure: nobody gets a reminder twice. The CSV file has the columns phone, name and
time:

    phone,name,time
    5511988887766,Ana,2026-12-01T14:30

    python appointment-reminders.py appointments.csv 2026-12-01
"""

import csv
import sys
from datetime import date, datetime, timedelta

from recado import Recado, RecadoError

day = date.fromisoformat(sys.argv[2]) if len(sys.argv) > 2 else date.today() + timedelta(days=1)
failed = False

with Recado() as recado, open(sys.argv[1], encoding="utf-8", newline="") as file:  # RECADO_URL and RECADO_API_KEY
    instance_id = recado.list_instances().data[0].instance_id
    for row in csv.DictReader(file):
        time = datetime.fromisoformat(row["time"])
        if time.date() != day:
            continue
        try:
            sent = recado.send_text(
                instance_id=instance_id,
                to=row["phone"],
                message=f"Olá, {row['name']}! Lembrete: você tem horário conosco em {time:%d/%m às %H:%M}.",
                # The gateway keeps a key for a day, and an appointment is tomorrow for no longer than that.
                idempotency_key=f"reminder {row['phone']} {time.isoformat()}",
            )
        except RecadoError as error:  # such as a number that is not registered; the others get theirs
            failed = True
            print(row["phone"], "failed:", error, file=sys.stderr)
            continue
        print(row["phone"], "was reminded before" if sent.idempotency_replayed else "is reminded")

sys.exit(failed)
