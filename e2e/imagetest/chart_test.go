//go:build linux

package imagetest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oasdiff/yaml"

	"github.com/recado-project/recado/internal/testkit/cases"
)

const chartFolder = "deploy/helm/recado"

// values are those of a chart.
type values map[string]any

// rendered is what a chart makes of values.
type rendered struct {
	Error   string            `json:"error"`
	Notes   string            `json:"notes"`
	Objects []json.RawMessage `json:"objects"`
	Wrong   []string          `json:"wrong"`
}

// helmAnswer is what tools/helm writes.
type helmAnswer struct {
	Lint    []string            `json:"lint"`
	Cases   map[string]rendered `json:"cases"`
	Objects []string            `json:"objects"`
}

// helm renders the chart with Helm's own library, and has what comes out checked as
// Kubernetes would, and also these objects.
func helm(t *testing.T, tests map[string]values, lint string, objects ...string) (said helmAnswer) {
	t.Helper()
	chart, err := filepath.Abs(filepath.Join(root, chartFolder))
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(map[string]any{
		"chart": chart, "schema": kubernetesSchema(t), "cases": tests, "lint": lint, "objects": objects,
	})
	if err != nil {
		t.Fatal(err)
	}
	output, err := runTool(t, "helm", string(input))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(output), &said); err != nil {
		t.Fatal(err)
	}
	return said
}

// kubernetesSchema returns the path of the API of Kubernetes, of the version that tools/helm is
// built with. It is a file of Kubernetes' own module, which nothing is built from.
func kubernetesSchema(t *testing.T) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubectl")
	list.Dir = filepath.Join(root, "tools", "helm")
	version, ok := strings.CutPrefix(strings.TrimSpace(run(t, stepWait, list)), "v0.")
	if !ok {
		t.Fatalf("kubectl has the version %s", version)
	}
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "k8s.io/kubernetes@v1."+version)
	var module struct {
		Dir string `json:"Dir"` //nolint:tagliatelle // Go's own name
	}
	if err := json.Unmarshal([]byte(run(t, buildWait, download)), &module); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(module.Dir, "api", "openapi-spec", "swagger.json")
}

// oneGateway and threeNodes are the two shapes of a release, with no more than they need.
func oneGateway() values {
	return values{"image": "registry.example.org/recado:1", "secrets": values{"masterKey": strings.Repeat("0123456789abcdef", 4)}}
}

func threeNodes() values {
	return values{
		"image": "registry.example.org/recado:1", "database": "postgresql", "nodes": 3,
		"mediaUrl": "s3://recado?endpoint=http://files:7070&region=us-east-1&path-style=true&links=served",
		"secrets": values{
			"masterKey": strings.Repeat("0123456789abcdef", 4), "databaseUrl": "postgres://recado:secret@db/recado",
			"clusterSecret": "of-the-nodes-alone", "awsAccessKeyId": "recado", "awsSecretAccessKey": "of-the-files",
		},
	}
}

// with returns values with others in their place.
func (v values) with(more values) values {
	all := maps.Clone(v)
	maps.Copy(all, more)
	return all
}

// The chart renders every shape of a release, and Kubernetes would take all of it.
func TestChartRenders(t *testing.T) {
	t.Parallel()
	everything := values{
		"imagePullSecrets": []string{"registry"}, "publicUrl": "https://messages.example.org", "settings": values{"RECADO_RATE_LIMIT_KEY": 600, "RECADO_MAX_INSTANCES": "5"},
		"service":    values{"type": "LoadBalancer", "annotations": values{"a": "b"}},
		"ingress":    values{"enabled": true, "className": "nginx", "host": "messages.example.org", "tlsSecret": "tls", "annotations": values{"nginx.ingress.kubernetes.io/proxy-body-size": "100m"}},
		"monitoring": values{"serviceMonitor": true, "rules": true, "labels": values{"release": "prometheus"}},
		"networkPolicy": values{
			"enabled": true, "clients": []values{{"namespaceSelector": values{}}}, "monitoring": []values{{"namespaceSelector": values{"matchLabels": values{"a": "b"}}}},
		},
		"serviceAccountAnnotations": values{"a": "b"}, "podAnnotations": values{"a": "b"}, "priorityClassName": "high", "nodeSelector": values{"a": "b"},
		"tolerations": []values{{"key": "a", "operator": "Exists"}}, "affinity": values{"nodeAffinity": values{}},
	}
	existing := values{"secrets": values{"existing": "my-secrets"}}
	tests := map[string]values{
		"one gateway": oneGateway(), "one with everything": oneGateway().with(everything), "three nodes": threeNodes(), "three with everything": threeNodes().with(everything),
		"one with a Secret": oneGateway().with(existing), "three with a Secret": threeNodes().with(existing).with(everything), "one node": threeNodes().with(values{"nodes": 1}),
		"on a volume that is there": oneGateway().with(values{"volume": values{"existing": "mine"}}),
	}
	want := map[string]string{
		"one gateway":               "PersistentVolumeClaim Secret Service Service ServiceAccount StatefulSet",
		"one with everything":       "Ingress NetworkPolicy PersistentVolumeClaim PrometheusRule Secret Service Service ServiceAccount ServiceMonitor StatefulSet",
		"three nodes":               "PodDisruptionBudget Secret Service Service ServiceAccount StatefulSet",
		"three with everything":     "Ingress NetworkPolicy PodDisruptionBudget PrometheusRule Secret Service Service ServiceAccount ServiceMonitor StatefulSet",
		"one with a Secret":         "PersistentVolumeClaim Service Service ServiceAccount StatefulSet",
		"three with a Secret":       "Ingress NetworkPolicy PodDisruptionBudget PrometheusRule Service Service ServiceAccount ServiceMonitor StatefulSet",
		"one node":                  "Secret Service Service ServiceAccount StatefulSet",
		"on a volume that is there": "Secret Service Service ServiceAccount StatefulSet",
	}
	said := helm(t, tests, "three with everything")
	for name, r := range said.Cases {
		var kinds []string
		for _, object := range r.Objects {
			kinds = append(kinds, kindOf(t, object))
		}
		slices.Sort(kinds)
		if r.Error != "" || len(r.Wrong) > 0 || strings.Join(kinds, " ") != want[name] {
			t.Errorf("%s: %s\nwrong: %q\nthere are %s", name, r.Error, r.Wrong, strings.Join(kinds, " "))
		}
		if !strings.Contains(r.Notes, "recado-0 -- /recado keys create") {
			t.Errorf("%s: the notes say %s", name, r.Notes)
		}
	}
	for _, message := range said.Lint {
		if !strings.Contains(message, "icon is recommended") {
			t.Errorf("helm lint: %s", message)
		}
	}
}

func kindOf(t *testing.T, object json.RawMessage) string {
	t.Helper()
	var one struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(object, &one); err != nil {
		t.Fatal(err)
	}
	return one.Kind
}

// find returns the object of a kind, read into it.
func (r rendered) find(t *testing.T, kind string, into any) string {
	t.Helper()
	for _, object := range r.Objects {
		if kindOf(t, object) == kind {
			if err := json.Unmarshal(object, into); err != nil {
				t.Fatal(err)
			}
			return string(object)
		}
	}
	t.Fatalf("there is no %s (%s)", kind, r.Error)
	return ""
}

// Values that can't work are refused, and the message says what to do.
func TestChartRefuses(t *testing.T) {
	t.Parallel()
	wrong := map[string]struct {
		values values
		want   string
	}{
		"nothing set":      {values{}, "image is missing"},
		"no master key":    {values{"image": "recado"}, "secrets.masterKey is missing"},
		"three on SQLite":  {oneGateway().with(values{"nodes": 3}), "Set database=postgresql"},
		"no node":          {oneGateway().with(values{"nodes": 0}), "/nodes"},
		"half a node":      {threeNodes().with(values{"nodes": 1.5}), "/nodes"},
		"another database": {oneGateway().with(values{"database": "mysql"}), "/database"},
		"no database URL":  {threeNodes().with(values{"secrets": values{"masterKey": strings.Repeat("0", 64), "clusterSecret": "of-the-nodes-alone"}}), "secrets.databaseUrl is missing"},
		"no cluster secret": {
			threeNodes().with(values{"secrets": values{"masterKey": strings.Repeat("0", 64), "databaseUrl": "postgres://db/recado"}}), "secrets.clusterSecret is missing",
		},
		"a short cluster secret": {threeNodes().with(values{"secrets": values{"clusterSecret": "short"}}), "/secrets/clusterSecret"},
		"a short master key":     {oneGateway().with(values{"secrets": values{"masterKey": "abc"}}), "/secrets/masterKey"},
		"no bucket":              {threeNodes().with(values{"mediaUrl": ""}), "mediaUrl is missing"},
		"files in a folder":      {threeNodes().with(values{"mediaUrl": "file:///files"}), "/mediaUrl"},
		"a Secret and its content": {
			oneGateway().with(values{"secrets": values{"existing": "mine", "masterKey": strings.Repeat("0", 64)}}), "secrets.masterKey and secrets.existing are both set",
		},
		"a database for SQLite": {
			oneGateway().with(values{"secrets": values{"masterKey": strings.Repeat("0", 64), "databaseUrl": "postgres://db/recado"}}), "are for database=postgresql",
		},
		"an Ingress without a host": {oneGateway().with(values{"ingress": values{"enabled": true}}), "ingress.host is missing"},
		"nobody may come":           {oneGateway().with(values{"networkPolicy": values{"enabled": true}}), "networkPolicy.clients is missing"},
		"a value that is not there": {oneGateway().with(values{"replicas": 3}), "'replicas' not allowed"},
		"a word of the wrong type":  {oneGateway().with(values{"drainSeconds": "long"}), "/drainSeconds"},
		"a setting of the chart":    {oneGateway().with(values{"settings": values{"RECADO_LISTEN": ":1"}}), "RECADO_LISTEN"},
	}
	tests := map[string]values{}
	for name, c := range wrong {
		tests[name] = c.values
	}
	for name, r := range helm(t, tests, "").Cases {
		if !strings.Contains(r.Error, wrong[name].want) {
			t.Errorf("%s: refused with %q, which has no %q", name, r.Error, wrong[name].want)
		}
	}
}

// What checks the objects notices what is wrong with one.
func TestChartCheckNotices(t *testing.T) {
	t.Parallel()
	r := helm(t, map[string]values{"it": threeNodes().with(values{"monitoring": values{"serviceMonitor": true}})}, "").Cases["it"]
	var ignored any
	set, monitor := r.find(t, "StatefulSet", &ignored), r.find(t, "ServiceMonitor", &ignored)
	faults := []struct{ object, old, new string }{
		{set, `"apiVersion"`, `"apiVersion"`}, // none
		{monitor, `"apiVersion"`, `"apiVersion"`},
		{set, `"readOnlyRootFilesystem"`, `"readonlyRootFilesystem"`},
		{set, `"replicas":3`, `"replicas":"three"`},
		{set, `"serviceName"`, `"service"`},
		{set, `"250m"`, `"much"`},
		{set, `"apps/v1"`, `"apps/v2"`},
		{set, `"mountPath":"/data",`, ``}, // missing
		{set, `"runAsNonRoot":true`, `"runAsNonRoot":false`},
		{set, `"allowPrivilegeEscalation":false,`, ``},
		{monitor, `"interval"`, `"every"`},
	}
	var objects []string
	for _, fault := range faults {
		if !strings.Contains(fault.object, fault.old) {
			t.Fatalf("there is no %s in %s", fault.old, fault.object)
		}
		objects = append(objects, strings.Replace(fault.object, fault.old, fault.new, 1))
	}
	for i, problem := range helm(t, nil, "", objects...).Objects {
		if (problem == "") != (faults[i].old == faults[i].new) {
			t.Errorf("%s instead of %s: %q", faults[i].new, faults[i].old, problem)
		}
	}
}

// The pods are made for the image: its user, its folder, settings that are there, and as much
// time as they may need to stop.
func TestChartFitsTheImage(t *testing.T) {
	t.Parallel()
	said := helm(t, map[string]values{"one": oneGateway(), "three": threeNodes().with(values{"drainSeconds": 100})}, "")
	settings := read(t, "docs/config.md")
	user := ""
	for _, i := range stages(t)["slim"] {
		if i.word == "USER" {
			user = i.arguments
		}
	}
	for name, r := range said.Cases {
		var set statefulSet
		r.find(t, "StatefulSet", &set)
		pod := set.Spec.Template.Spec
		one := pod.Containers[0]
		if is := fmt.Sprintf("%d:%d", pod.Security.User, pod.Security.Group); is != user || pod.Security.Group != pod.Security.FilesGroup {
			t.Errorf("%s: the pods run as %s, with files of %d, and the image as %s", name, is, pod.Security.FilesGroup, user)
		}
		if !one.Security.ReadOnly || len(one.VolumeMounts) != 1 || one.VolumeMounts[0].MountPath != "/data" {
			t.Errorf("%s: the pods may write elsewhere than to /data: %+v", name, one.VolumeMounts)
		}
		for _, variable := range one.Env {
			if strings.HasPrefix(variable.Name, "RECADO_") && !strings.Contains(settings, "`"+variable.Name+"`") {
				t.Errorf("%s: the chart sets %s, which docs/config.md does not have", name, variable.Name)
			}
			if wait, err := time.ParseDuration(variable.Value); variable.Name == "RECADO_DRAIN_WAIT" && (err != nil || wait.Seconds()+30 > float64(pod.Grace)) {
				t.Errorf("%s: a pod drains for %s, and is killed after %d s (%v)", name, wait, pod.Grace, err)
			}
		}
	}
}

// A release can change its shape: what Kubernetes lets nobody change in a StatefulSet is the
// same in all of them.
func TestChartCanBeUpgraded(t *testing.T) {
	t.Parallel()
	said := helm(t, map[string]values{
		"one": oneGateway(), "three": threeNodes(), "one node": threeNodes().with(values{"nodes": 1}), "drains": threeNodes().with(values{"drainSeconds": 100}),
	}, "")
	fixed := map[string]map[string]any{}
	for name, r := range said.Cases {
		var set struct {
			Spec map[string]any `json:"spec"`
		}
		r.find(t, "StatefulSet", &set)
		for _, changeable := range []string{"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy", "minReadySeconds"} {
			delete(set.Spec, changeable)
		}
		fixed[name] = set.Spec
	}
	for name, spec := range cases.Sorted(fixed) {
		if !reflect.DeepEqual(spec, fixed["three"]) {
			t.Errorf("%s has %v, and three nodes have %v", name, spec, fixed["three"])
		}
	}
}

// The page of the chart has every value, and its rules are those that were tried.
func TestChartIsExplained(t *testing.T) {
	t.Parallel()
	if read(t, chartFolder+"/files/alerts.yml") != read(t, "deploy/prometheus/alerts.yml") {
		t.Error("deploy/helm/recado/files/alerts.yml is another file than deploy/prometheus/alerts.yml: copy it")
	}
	var all map[string]any
	if _, err := yaml.Unmarshal([]byte(read(t, chartFolder+"/values.yaml")), &all, yaml.DecodeOpts{}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, value := range all {
		group, ok := value.(map[string]any)
		if !ok || len(group) == 0 || name == "resources" {
			names = append(names, name)
			continue
		}
		for inner := range group {
			names = append(names, name+"."+inner)
		}
	}
	page := read(t, chartFolder+"/README.md")
	for _, name := range names {
		if !strings.Contains(page, "\n| `"+name+"` |") {
			t.Errorf("the page of the chart does not explain %s", name)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-zA-Z.]+)` \\|").FindAllStringSubmatch(page, -1) {
		if !slices.Contains(names, row[1]) {
			t.Errorf("the page of the chart explains %s, which is no value", row[1])
		}
	}
}
