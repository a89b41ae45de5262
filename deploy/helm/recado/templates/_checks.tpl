{{/* What values.schema.json can't say: stops where something is missing. */}}
{{- define "recado.checks" -}}
{{- $s := .Values.secrets }}
{{- if not .Values.image }}
{{- fail "\n\nimage is missing: build the image, push it to a registry of yours, and name it: --set image=registry.example.org/recado:1" }}
{{- end }}
{{- if and (eq .Values.database "sqlite") (gt (int .Values.nodes) 1) }}
{{- fail "\n\nnodes is more than 1: several share a PostgreSQL database and a bucket. Set database=postgresql" }}
{{- end }}
{{- if $s.existing }}
{{- range $name, $value := omit $s "existing" }}{{ if $value }}
{{- fail (printf "\n\nsecrets.%s and secrets.existing are both set: put it into the Secret %s" $name $s.existing) }}
{{- end }}{{ end }}
{{- else }}
{{- if not $s.masterKey }}
{{- fail "\n\nsecrets.masterKey is missing: `docker run --rm IMAGE master-key new` prints one. Keep a copy elsewhere: without it nobody can use the data" }}
{{- end }}
{{- if eq .Values.database "postgresql" }}
{{- if not $s.databaseUrl }}
{{- fail "\n\nsecrets.databaseUrl is missing: the address of an empty PostgreSQL database, postgres://user:password@host/name" }}
{{- end }}
{{- if not $s.clusterSecret }}
{{- fail "\n\nsecrets.clusterSecret is missing: what the nodes recognise each other by, for example `openssl rand -hex 24`" }}
{{- end }}
{{- else if or $s.databaseUrl $s.clusterSecret }}
{{- fail "\n\nsecrets.databaseUrl and secrets.clusterSecret are for database=postgresql" }}
{{- end }}
{{- end }}
{{- if and (eq .Values.database "postgresql") (not .Values.mediaUrl) }}
{{- fail "\n\nmediaUrl is missing: nodes share their files in a bucket, for example s3://bucket/recado?endpoint=https://s3.example.org&region=eu-1" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "\n\ningress.host is missing: the name under which clients reach the gateway" }}
{{- end }}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.clients) }}
{{- fail "\n\nnetworkPolicy.clients is missing: who may use the API, for example [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress-nginx}}}]" }}
{{- end }}
{{- end }}
