package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// Instances can be given by name; if a name is not unique, the ids are listed.
func TestInstancesByName(t *testing.T) {
	t.Parallel()
	instances := `{"instanceId":"I1","name":"shop","status":"connected"},{"instanceId":"I2","name":"twin"},{"instanceId":"I3","name":"twin"}`
	for name, test := range cases.Sorted(map[string]struct {
		instances string
		args      []string
		code      int
		want      string // asked for, or said
	}{
		"by name":           {instances, []string{"--instance", "shop"}, 0, "/api/instances/I1/webhooks/W1/resume"},
		"by id":             {instances, []string{"--instance", "I3"}, 0, "/api/instances/I3/webhooks/W1/resume"},
		"the only one":      {`{"instanceId":"I9","name":"a"}`, nil, 0, "/api/instances/I9/webhooks/W1/resume"},
		"one of several":    {instances, nil, 2, "the instance is missing; in the scope of the key are shop (I1), twin (I2), twin (I3)"},
		"two of that name":  {instances, []string{"--instance", "twin"}, 2, "choose one by its id: twin (I2), twin (I3)"},
		"none of that name": {instances, []string{"--instance", "sohp"}, 1, "no instance sohp, but shop (I1)"},
		"none at all":       {"", []string{"--instance", "shop"}, 1, "recado instances create"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.Path
				_, _ = io.WriteString(w, `{"id":"W1","data":[`+test.instances+`],"isLastPage":true}`) // as above
			}))
			defer server.Close()
			args := append([]string{"webhooks", "resume", "--api-key", "rcd_x", "--url", server.URL}, test.args...)
			code, _, said := run(t, "", args...)
			if code != test.code || !strings.Contains(asked+said, test.want) {
				t.Errorf("exit code %d, asked %s, said %q; want %d, %q", code, asked, said, test.code, test.want)
			}
		})
	}
}

// Help and version are where people look for them.
func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for want, lines := range cases.Sorted(map[string][][]string{
		"Usage: recado send text":  {{"help", "send", "text"}, {"send", "text", "--help"}},
		"\n\nCommands:\n":          {{"help", "instances"}, {"instances", "--help"}},
		"Usage: recado <command>":  {{}, {"help"}, {"--help"}},
		"recado 0.":                {{"version"}, {"--version"}},
		`{"version":"0.`:           {{"version", "--json"}},
		"complete -o default":      {{"completion", "bash"}, {"completion", "zsh"}},
		"complete -f -c recado -a": {{"completion", "fish"}},
	}) {
		for _, line := range lines {
			if code, out, said := run(t, "", line...); code != 0 || !strings.Contains(out, want) || said != "" {
				t.Errorf("%v: exit code %d, printed %q, said %q", line, code, out, said)
			}
		}
	}
}
