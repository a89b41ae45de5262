// Command helm renders a chart with Helm's own library for many sets of values, and checks
// what comes out against the schemas of Kubernetes as kubectl does: fields that don't exist,
// values of the wrong type and fields that are missing are all reported, and so are pods that
// the standard "restricted" refuses. Tests call it; it is a module of its own because Helm
// needs hundreds of others.
//
// It reads a request as JSON from its standard input, and writes an answer.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubectl/pkg/util/openapi"
	"k8s.io/kubectl/pkg/validation"
	security "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

// request is what is to be rendered.
type request struct {
	Chart  string                    `json:"chart"`  // folder
	Schema string                    `json:"schema"` // the API of Kubernetes, as OpenAPI 2
	Cases  map[string]map[string]any `json:"cases"`  // values
	Lint   string                    `json:"lint"`   // the case whose values are linted
	// Objects are checked as they are.
	Objects []string `json:"objects"`
}

// answer is what came of it.
type answer struct {
	Lint    []string            `json:"lint"`
	Cases   map[string]rendered `json:"cases"`
	Objects []string            `json:"objects"` // what is wrong with each; empty: nothing
}

// rendered is what a chart makes of some values.
type rendered struct {
	Error   string            `json:"error"`   // why it was refused
	Notes   string            `json:"notes"`   // what Helm prints in the end
	Objects []json.RawMessage `json:"objects"` // by template, in their order there
	Wrong   []string          `json:"wrong"`   // what Kubernetes would refuse
}

func main() {
	log.SetOutput(io.Discard) // Helm's remarks on values that override tables
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var asked request
	if err := json.NewDecoder(in).Decode(&asked); err != nil {
		return err
	}
	check, err := newChecker(asked.Schema)
	if err != nil {
		return err
	}
	said := answer{Cases: map[string]rendered{}}
	for _, object := range asked.Objects {
		problem := ""
		if err := check.object([]byte(object)); err != nil {
			problem = err.Error()
		}
		said.Objects = append(said.Objects, problem)
	}
	for name, values := range asked.Cases {
		if said.Cases[name], err = render(asked.Chart, values, check); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if asked.Lint != "" {
		for _, message := range lint.RunAll(asked.Chart, asked.Cases[asked.Lint], "chat").Messages {
			said.Lint = append(said.Lint, message.Error())
		}
	}
	return json.NewEncoder(out).Encode(said)
}

// render renders the chart as `helm install recado --namespace chat` does.
func render(folder string, values map[string]any, check checker) (rendered, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return rendered{}, err
	}
	all, err := util.ToRenderValues(chart, values, common.ReleaseOptions{
		Name: "recado", Namespace: "chat", Revision: 1, IsInstall: true,
	}, common.DefaultCapabilities)
	if err != nil {
		return rendered{Error: err.Error()}, nil
	}
	files, err := engine.Engine{Strict: true}.Render(chart, all)
	if err != nil {
		return rendered{Error: err.Error()}, nil
	}
	var r rendered
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, "/NOTES.txt") {
			r.Notes = files[name]
			continue
		}
		for document := range strings.SplitSeq("\n"+files[name], "\n---\n") {
			content, err := yaml.YAMLToJSONStrict([]byte(document))
			if err != nil {
				r.Wrong = append(r.Wrong, fmt.Sprintf("%s: %v", name, err))
				continue
			}
			if string(content) == "null" {
				continue
			}
			r.Objects = append(r.Objects, content)
			if err := check.object(content); err != nil {
				r.Wrong = append(r.Wrong, fmt.Sprintf("%s: %v", name, err))
			}
		}
	}
	return r, nil
}

// checker knows the API of Kubernetes.
type checker struct {
	schema   openapi.Resources
	codecs   serializer.CodecFactory
	standard policy.Evaluator
}

func newChecker(path string) (checker, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return checker{}, err
	}
	document, err := openapi_v2.ParseDocument(content)
	if err != nil {
		return checker{}, err
	}
	schema, err := openapi.NewOpenAPIData(document)
	if err != nil {
		return checker{}, err
	}
	standard, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	return checker{schema, serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict), standard}, err
}

// OpenAPISchema gives kubectl's check the schema, which it would get from a server.
func (c checker) OpenAPISchema() (openapi.Resources, error) { return c.schema, nil }

// object returns what is wrong with an object.
func (c checker) object(content []byte) error {
	var kind struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(content, &kind); err != nil {
		return err
	}
	switch {
	case kind.APIVersion != monitoring.SchemeGroupVersion.String():
	case kind.Kind == monitoring.ServiceMonitorsKind:
		return yaml.UnmarshalStrict(content, new(monitoring.ServiceMonitor))
	case kind.Kind == monitoring.PrometheusRuleKind:
		return yaml.UnmarshalStrict(content, new(monitoring.PrometheusRule))
	}
	if err := validation.NewSchemaValidation(c).ValidateBytes(content); err != nil {
		return err
	}
	// The schema says "string" for more than it means: amounts, for example.
	decoded, _, err := c.codecs.UniversalDeserializer().Decode(content, nil, nil)
	if err != nil {
		return err
	}
	if set, ok := decoded.(*apps.StatefulSet); ok {
		return c.pod(set.Spec.Template)
	}
	return nil
}

// pod returns why a namespace that enforces the standard "restricted" would refuse a pod.
func (c checker) pod(template core.PodTemplateSpec) error {
	restricted := security.LevelVersion{Level: security.LevelRestricted, Version: security.LatestVersion()}
	refusal := policy.AggregateCheckResults(c.standard.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec))
	if refusal.Allowed {
		return nil
	}
	return fmt.Errorf("not restricted: %s", refusal.ForbiddenDetail())
}
