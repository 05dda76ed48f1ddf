{{- define "planner.pod" -}}
serviceAccountName: planner
priorityClassName: system-cluster-critical
terminationGracePeriodSeconds: 60
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- if eq .Values.kind "CronJob" }}
restartPolicy: Never
{{- else }}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: {app.kubernetes.io/name: planner}
{{- end }}
containers:
- name: planner
  image: {{ .Values.image | default (printf "pod-planner:%s" .Chart.AppVersion) | quote }}
  args:
  - run
  - --in-cluster
  - --policy=/etc/planner/policy.yaml
  - --mode={{ .Values.mode }}
{{- if and (eq .Values.mode "Apply") .Values.cordons }}
  - --cordons
{{- end }}
{{- if eq .Values.kind "CronJob" }}
  - --once
{{- end }}
  env:
  - name: POD_NAME
    valueFrom:
      fieldRef: {fieldPath: metadata.name}
{{- if eq .Values.kind "Deployment" }}
  ports:
  - {name: http, containerPort: 8080}
  livenessProbe:
    httpGet: {path: /healthz, port: http}
    periodSeconds: 30
  readinessProbe:
    httpGet: {path: /readyz, port: http}
    periodSeconds: 10
{{- end }}
  resources:
{{ toYaml .Values.resources | indent 4 }}
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities: {drop: [ALL]}
  volumeMounts:
  - {name: policy, mountPath: /etc/planner, readOnly: true}
  - {name: tmp, mountPath: /tmp}
volumes:
- name: policy
  configMap: {name: planner-policy}
- name: tmp
  emptyDir: {}
{{- end -}}
