package bench_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/recado-project/recado/internal/testkit/process"
)

//nolint:gochecknoglobals // flags of a test are registered before it runs
var profilePath = flag.String("profile", "", "where BenchmarkProfile writes the profile that releases are built with")

// BenchmarkProfile profiles the gateway while it sends, receives and calls webhooks, with one
// instance and with fifty, and writes the sum of the profiles: what `make profile` is for.
func BenchmarkProfile(b *testing.B) {
	if *profilePath == "" {
		b.Skip("nobody asked for a profile: make profile")
	}
	const seconds = 20
	for b.Loop() {
		var profiles []string
		for _, instances := range []int{1, 50} {
			admin := process.FreeAddress(b)
			w := &world{sandbox: startSandbox(b), data: b.TempDir(), flags: []string{"--allow-private-urls", "--admin-listen", admin}}
			w.startGateway(b)
			for i := range instances {
				w.link(b, i)
			}
			w.awaitConnected(b)
			w.countReceived(b)
			profile := make(chan string, 1)
			go func() { profile <- fetchProfile(b, admin, seconds) }()
			for len(profile) == 0 {
				each := 1 + 100/instances
				w.send(b, each, 1)
				phonesWrite(b, w.sandbox, instances, each, "")
			}
			profiles = append(profiles, <-profile)
			w.gateway.Stop()
		}
		merge(b, profiles, *profilePath)
	}
}

// fetchProfile returns the path of a profile of the next seconds, or nothing if there is none.
func fetchProfile(b *testing.B, admin string, seconds int) string {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", admin, seconds), http.NoBody)
	if err != nil {
		b.Error(err)
		return ""
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Error(err)
		return ""
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Errorf("the profile: %d %v", response.StatusCode, err)
		return ""
	}
	path := filepath.Join(b.TempDir(), "profile")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		b.Error(err)
		return ""
	}
	return path
}

// merge writes the sum of profiles.
func merge(b *testing.B, profiles []string, path string) {
	b.Helper()
	command := exec.CommandContext(b.Context(), "go", append([]string{"tool", "pprof", "-proto", "-output=" + path}, profiles...)...)
	if said, err := command.CombinedOutput(); err != nil {
		b.Fatalf("merge the profiles: %v\n%s", err, said)
	}
}
