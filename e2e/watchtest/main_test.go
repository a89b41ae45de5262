package watchtest_test

import (
	"flag"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/leak"
)

func TestMain(m *testing.M) {
	flag.Parse()
	leak.Check(m)
}

//nolint:gochecknoglobals // flags of a test are registered before it runs
var update = flag.Bool("update", false, "write the table of docs/monitoring.md anew")

// root is the repository's.
const root = "../.."

// Phones of the tests.
const (
	shopNumber     = "5511999990100"
	otherNumber    = "5511999990200"
	customerNumber = "5511988887766"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// get fetches a page, and returns its status and content.
func get(t *testing.T, url string) (status int, content string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// families are the metrics of a page, by name.
type families map[string]*dto.MetricFamily

// scrape reads the page of metrics.
func scrape(t *testing.T, g *testkit.Gateway) families {
	t.Helper()
	status, page := get(t, g.Server.AdminURL()+"/metrics")
	if status != http.StatusOK {
		t.Fatalf("the page of metrics answers %d: %s", status, page)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// value returns the value of the one series with these labels, as name=value: of a histogram
// how much was observed. It is NaN if there is none.
func (f families) value(name string, labels ...string) float64 {
	for _, metric := range f[name].GetMetric() {
		var has []string
		for _, pair := range metric.GetLabel() {
			has = append(has, pair.GetName()+"="+pair.GetValue())
		}
		missing := func(label string) bool { return !slices.Contains(has, label) }
		if slices.ContainsFunc(labels, missing) {
			continue
		}
		switch {
		case metric.Histogram != nil:
			return float64(metric.GetHistogram().GetSampleCount())
		case metric.Counter != nil:
			return metric.GetCounter().GetValue()
		default:
			return metric.GetGauge().GetValue()
		}
	}
	return math.NaN()
}
