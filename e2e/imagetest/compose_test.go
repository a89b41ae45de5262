package imagetest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"
)

// compose is what the tests need of compose.yaml.
type compose struct {
	Services map[string]service `json:"services"`
}

type service struct {
	Command     []string          `json:"command"`
	Ports       []string          `json:"ports"`
	Volumes     []string          `json:"volumes"`
	Environment map[string]string `json:"environment"`
	Profiles    []string          `json:"profiles"`
	ReadOnly    bool              `json:"read_only"` //nolint:tagliatelle // Compose's own name
	Healthcheck healthcheck       `json:"healthcheck"`
}

func readCompose(t *testing.T) (c compose) {
	t.Helper()
	if _, err := yaml.Unmarshal([]byte(read(t, "compose.yaml")), &c, yaml.DecodeOpts{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// What compose.yaml says about the services fits the image, and each other.
func TestComposeFitsTheImage(t *testing.T) {
	t.Parallel()
	services := readCompose(t).Services
	gateway, sandbox := services["recado"], services["sandbox"]
	exposed := ""
	for _, i := range stages(t)["slim"] {
		switch i.word {
		case "EXPOSE":
			exposed = i.arguments
		case "HEALTHCHECK":
			_, check, _ := strings.Cut(i.arguments, " CMD ")
			if quoted := `["CMD", ` + strings.TrimPrefix(check, "["); !strings.Contains(read(t, "compose.yaml"), quoted) {
				t.Errorf("compose.yaml has no check %s, as the image has", quoted)
			}
		}
	}
	if len(gateway.Ports) != 1 || !strings.HasPrefix(gateway.Ports[0], "127.0.0.1:") || !strings.HasSuffix(gateway.Ports[0], ":"+exposed) {
		t.Errorf("the gateway is at %q, and the image listens on %s", gateway.Ports, exposed)
	}
	// Inside and outside it is one port, because the links that dev prints have it.
	if want := []string{"127.0.0.1:8090:8090"}; !slices.Equal(sandbox.Ports, want) || !slices.Contains(sandbox.Command, "0.0.0.0:8090") ||
		!slices.Contains(sandbox.Healthcheck.Test, "http://127.0.0.1:8090") {
		t.Errorf("the sandbox is at %q, listens by %q and is asked by %q", sandbox.Ports, sandbox.Command, sandbox.Healthcheck.Test)
	}
	for name, s := range services {
		if !s.ReadOnly || len(s.Volumes) != 1 || !strings.HasSuffix(s.Volumes[0], ":/data") {
			t.Errorf("%s may write elsewhere than to a volume at /data: %+v", name, s)
		}
	}
	if len(gateway.Profiles) > 0 || !slices.Equal(sandbox.Profiles, []string{"sandbox"}) {
		t.Errorf("the profiles are %q and %q", gateway.Profiles, sandbox.Profiles)
	}
	settings := read(t, "docs/config.md")
	for name := range gateway.Environment {
		if !strings.Contains(settings, "`"+name+"`") {
			t.Errorf("compose.yaml sets %s, which docs/config.md does not have", name)
		}
	}
}
