{{/* The name of everything in this release. */}}
{{- define "recado.name" -}}
{{- if contains "recado" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-recado" (.Release.Name | trunc 43 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "recado.selector" -}}
app.kubernetes.io/name: recado
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "recado.labels" -}}
{{ include "recado.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "recado.secret" -}}
{{ .Values.secrets.existing | default (include "recado.name" .) }}
{{- end }}

{{/* The address of clients: as it was set, or that of the Ingress. */}}
{{- define "recado.publicUrl" -}}
{{- if .Values.publicUrl }}{{ .Values.publicUrl }}{{ else if .Values.ingress.enabled }}{{ ternary "https" "http" (ne .Values.ingress.tlsSecret "") }}://{{ .Values.ingress.host }}{{ end }}
{{- end }}

{{/* An environment variable out of the Secret. */}}
{{- define "recado.fromSecret" -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef: { name: {{ include "recado.secret" .root }}, key: {{ .key }}{{ if .optional }}, optional: true{{ end }} }
{{- end }}
