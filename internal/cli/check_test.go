package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// A check says whether the settings are right, and touches nothing.
func TestCheckOfSettings(t *testing.T) {
	t.Parallel()
	for text, want := range cases.Sorted(map[string]string{
		"max-media: 5":                    "the settings are right\n",
		"max-media: five":                 "recado.yaml:2: max-media must be a whole number",
		"advertise: http://10.0.0.7:8080": "--advertise needs --database-url",
		"master-key-file: /nowhere/key":   "/nowhere/key",
		"keep-delivered: -1h":             "--keep-delivered must not be less than 0",
		"keep-undelivered: -1h":           "--keep-undelivered must not be less than 0",
		"edit-window: -1h":                "--edit-window must not be less than 0",
	}) {
		data := filepath.Join(t.TempDir(), "data")
		path := filepath.Join(t.TempDir(), "recado.yaml")
		if err := os.WriteFile(path, []byte("data: "+data+"\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, said := run(t, "", "serve", "--settings", path, "--check")
		if right := text == "max-media: 5"; !strings.Contains(out+said, want) || (code == 0) != right {
			t.Errorf("%s: exit code %d, it says %s%s", text, code, out, said)
		}
		if _, err := os.Stat(data); err == nil {
			t.Errorf("%s: there is a folder of data", text)
		}
	}
}

// The lease that tests shorten has a bound, below which no node renews it in time.
func TestLeaseIsNotTooShort(t *testing.T) {
	t.Parallel()
	for lease, want := range cases.Sorted(map[string]string{
		"1s": "the settings are right\n", "999ms": "--lease must not be less than 1s", "-15s": "--lease must not be less than 1s",
	}) {
		_, out, said := run(t, "", "serve", "--check", "--data", t.TempDir(), "--database-url", "postgres://localhost/recado",
			"--advertise", "http://10.0.0.7:8080", "--cluster-secret", "a secret of nodes", "--media-url", "file:///mnt/recado", "--lease="+lease)
		if !strings.Contains(out+said, want) {
			t.Errorf("%s: it says %s%s", lease, out, said)
		}
	}
}
