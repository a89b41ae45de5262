package doctor

import (
	"testing"
	"time"

	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	fine(t, with(t, server.Config{Listen: "127.0.0.1:8080", AdminListen: "localhost:9090", PublicURL: "http://localhost:8080"}).settings())
	fine(t, with(t, server.Config{Listen: ":8080", BehindProxy: true, PublicURL: "https://messages.example.org", KeepMessages: 25 * time.Hour}).settings())
	for text, test := range cases.Sorted(map[string]struct {
		settings server.Config
		state    State
	}{
		"--listen 0.0.0.0:8080 is reachable":    {server.Config{Listen: "0.0.0.0:8080"}, Warning},
		"--admin-listen 10.0.0.7:9090":          {server.Config{AdminListen: "10.0.0.7:9090"}, Warning},
		"--behind-proxy without --public-url":   {server.Config{BehindProxy: true}, Warning},
		"--public-url begins with http://":      {server.Config{PublicURL: "http://messages.example.org"}, Warning},
		"--allow-private-urls":                  {server.Config{AllowPrivateURLs: true}, Warning},
		"--keep-messages is 1h0m0s":             {server.Config{KeepMessages: time.Hour}, Wrong},
		"--admin-listen are both 127.0.0.1:807": {server.Config{Listen: "127.0.0.1:807", AdminListen: "127.0.0.1:807"}, Wrong},
	}) {
		says(t, with(t, test.settings).settings(), test.state, text)
	}
	e := with(t, server.Config{})
	e.config.Settings = []Finding{wrong("settings", "correct it", "--platform-url is needed")}
	if found := e.settings(); len(found) != 1 || found[0] != e.config.Settings[0] {
		t.Errorf("found %v", found)
	}
}
