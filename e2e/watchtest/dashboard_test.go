package watchtest_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The dashboard of Grafana reads metrics that are there, in expressions that Prometheus
// understands.
func TestDashboard(t *testing.T) {
	t.Parallel()
	var dashboard struct {
		Title       string `json:"title"`
		Annotations struct {
			List []struct {
				Expr string `json:"expr"`
			} `json:"list"`
		} `json:"annotations"`
		Panels []struct {
			ID          int    `json:"id"`
			Type        string `json:"type"`
			Title       string `json:"title"`
			Description string `json:"description"`
			Targets     []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
			GridPos struct {
				X int `json:"x"`
				W int `json:"w"`
			} `json:"gridPos"`
		} `json:"panels"`
	}
	if err := json.Unmarshal([]byte(readFile(t, "deploy/grafana/recado.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$node", ".*")
	var expressions []string
	for _, annotation := range dashboard.Annotations.List {
		expressions = append(expressions, annotation.Expr)
	}
	seen := map[int]bool{}
	for _, panel := range dashboard.Panels {
		if seen[panel.ID] || panel.ID == 0 || panel.Title == "" || panel.GridPos.X+panel.GridPos.W > 24 {
			t.Errorf("panel %d %q: it has no place, name or number of its own", panel.ID, panel.Title)
		}
		seen[panel.ID] = true
		if panel.Type != "row" && (panel.Description == "" || len(panel.Targets) == 0) {
			t.Errorf("panel %d %q does not say what it shows", panel.ID, panel.Title)
		}
		for _, target := range panel.Targets {
			expressions = append(expressions, variables.Replace(target.Expr))
		}
	}
	said := judge(t, question{Rules: readFile(t, rulesFile), Expressions: expressions})
	page := healthyPage(t)
	wantMetrics(t, page, said.Metrics)
	// What is worth a metric is worth a look.
	shown := strings.Join(expressions, "\n")
	for _, name := range regexp.MustCompile(`(?m)^# TYPE (recado_\w+) `).FindAllStringSubmatch(page, -1) {
		onlyAlerts := []string{"recado_client_version_refused", "recado_database_up", "recado_settings_refused"}
		if !strings.Contains(shown, name[1]) && !slices.Contains(onlyAlerts, name[1]) {
			t.Errorf("the dashboard does not show %s", name[1])
		}
	}
}
