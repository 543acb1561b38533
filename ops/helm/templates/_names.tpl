{{- define "tideline.name" -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "tideline.selector" -}}
app.kubernetes.io/name: tideline
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "tideline.labels" -}}
{{ include "tideline.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}
