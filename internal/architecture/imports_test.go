package architecture_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

const module = "github.com/recado-project/recado/"

// room is a package as the go command lists it.
type room struct {
	ImportPath string   `json:"ImportPath"` //nolint:tagliatelle // the go command's own names
	Imports    []string `json:"Imports"`    //nolint:tagliatelle // without those of its tests
	GoFiles    []string `json:"GoFiles"`    //nolint:tagliatelle // as above

	TestImports  []string `json:"TestImports"`  //nolint:tagliatelle // of its tests
	XTestImports []string `json:"XTestImports"` //nolint:tagliatelle // of those in a package beside it
}

// rooms returns every package of the two modules that is more than tests, by its path
// from the root.
func rooms(t *testing.T) map[string]room {
	t.Helper()
	found := map[string]room{}
	for _, folder := range []string{".", "e2e"} {
		command := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,GoFiles,TestImports,XTestImports", "./...")
		command.Dir = filepath.Join(root, folder)
		output, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
			var r room
			if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if len(r.GoFiles) > 0 {
				found[strings.TrimPrefix(r.ImportPath, module)] = r
			}
		}
	}
	return found
}

// A layer is a set of rooms below internal, each with the rooms inside it.
type layer struct {
	name  string
	rooms []string
	// may are the layers that it may import. A room may always import what is inside it, and what
	// is beside it below the same room.
	may []string
}

// The layers of the program. A new room is in one of them, or the test fails.
func layers() []layer {
	return []layer{
		{"words", []string{"gateway"}, nil},
		{
			"ground",
			[]string{
				"body", "cache", "clock", "eventlog", "groupcommit", "keylock", "media", "outbound", "postgres", "preview", "reference", "required", "seal", "share", "signallog", "sqlerror",
				"sqlite", "trace", "web", "worker",
			},
			[]string{"words", "ground"},
		},
		{
			"use cases",
			[]string{
				"access", "call", "channel", "chat", "directory", "group", "instance", "label", "messaging", "presence", "profile", "template", "user", "webhook",
			},
			[]string{"words", "ground"},
		},
		{"overview", []string{"health"}, []string{"words", "ground", "use cases"}},
		{
			"outer",
			[]string{"admin", "api", "dashboard", "metrics", "node", "sandbox", "store", "whatsapp"},
			[]string{"words", "ground", "use cases", "overview"},
		},
		// They know nothing of the program but its API, by the client.
		{"dialects", []string{"dialect"}, []string{"words", "ground"}},
		{
			"assembly",
			[]string{"archive", "cli", "clientgen", "copying", "doctor", "movein", "server", "sitegen"},
			[]string{"words", "ground", "use cases", "overview", "outer", "dialects", "assembly"},
		},
		{
			"tests",
			[]string{"architecture", "docstest", "hostile", "media/mediatest", "mutants", "store/storetest", "testkit", "web/webtest"},
			[]string{"words", "ground", "use cases", "overview", "outer", "dialects", "assembly", "tests"},
		},
	}
}

// Rooms import inwards alone: no use case imports another one, and no outer room another one.
// Outside internal, the client imports nothing of the program, and nobody imports e2e.
func TestRoomsImportInwards(t *testing.T) {
	t.Parallel()
	layerOf, may := map[string]string{}, map[string][]string{}
	for _, l := range layers() {
		may[l.name] = l.may
		for _, room := range l.rooms {
			layerOf[room] = l.name
		}
	}
	seen := map[string]bool{}
	top := func(name string) string {
		if layerOf[name] == "" {
			name, _, _ = strings.Cut(name, "/")
		}
		seen[name] = true
		return name
	}
	for path, r := range cases.Sorted(rooms(t)) {
		name, internal := strings.CutPrefix(path, "internal/")
		from := top(name)
		if internal && layerOf[from] == "" {
			t.Errorf("%s is in no layer", path)
		}
		for _, other := range r.Imports {
			imported, ours := strings.CutPrefix(other, module)
			if !ours {
				if from == "gateway" && strings.Contains(other, ".") {
					t.Errorf("gateway imports %s, and must make do with the standard library", other)
				}
				continue
			}
			inner, toInternal := strings.CutPrefix(imported, "internal/")
			to := top(inner)
			switch {
			case strings.HasPrefix(imported, "e2e/") && !strings.HasPrefix(path, "e2e/"), path == "client",
				strings.HasPrefix(path, "client/") && toInternal:
				t.Errorf("%s imports %s", path, imported)
			case !internal || !toInternal || to == from || slices.Contains(may[layerOf[from]], layerOf[to]):
			default:
				t.Errorf("%s (%s) imports %s (%s)", path, layerOf[from], imported, layerOf[to])
			}
		}
	}
	for room := range cases.Sorted(layerOf) {
		if !seen[room] {
			t.Errorf("%s is in a layer, and is no room", room)
		}
	}
}

// technologies says which rooms may name a library: "/..." means the rooms inside as well.
func technologies() map[string]string {
	return map[string]string{
		"go.mau.fi/whatsmeow":                   "whatsapp/... sandbox/... e2e/bench/bare",
		"go.mau.fi/libsignal":                   "sandbox/... signallog whatsapp/baileys whatsapp/sessionrecord whatsapp/transport",
		"github.com/danielgtaylor/huma":         "api/... body/...",
		"github.com/alecthomas/kong":            "cli cli/settings",
		"go.yaml.in/yaml":                       "cli/settings",
		"github.com/jackc/pgx":                  "copying postgres store store/claim sqlerror testkit/postgres",
		"modernc.org/sqlite":                    "sqlite sqlerror",
		"modernc.org/libc":                      "sqlite",
		"database/sql":                          "copying movein postgres sandbox/... sqlerror sqlite store/... whatsapp/keys",
		"github.com/coder/websocket":            "sandbox/...",
		"github.com/gabriel-vasile/mimetype":    "media",
		"github.com/minio/minio-go":             "media/bucket",
		"golang.org/x/image":                    "media media/probe",
		"code.dny.dev/ssrf":                     "outbound",
		"github.com/KimMachineGun/automemlimit": "server",
		"golang.org/x/net/proxy":                "whatsapp/transport",
		"golang.org/x/net/html":                 "preview",
		"golang.org/x/crypto/chacha20poly1305":  "seal",
		"golang.org/x/text":                     "dashboard/docpages media messaging preview store/chattable web web/bubbles whatsapp/wire",
		"github.com/alexedwards/argon2id":       "user",
		"github.com/alexedwards/scs":            "dashboard/signin",
		"github.com/go-webauthn/webauthn":       "sandbox/passkey user whatsapp/...",
		"github.com/chromedp":                   "e2e/browsertest/browser",
		"github.com/prometheus":                 "metrics",
		"net/http/pprof":                        "admin",
		"go.opentelemetry.io/otel":              "server trace",
		"github.com/gomodule/redigo":            "movein",
		"github.com/golang-jwt/jwt":             "dialect/evolution",
		"github.com/yuin/goldmark":              "dashboard/docpages",
	}
}

// A library is named by its rooms, and by no other.
func TestTechnologiesHaveTheirRooms(t *testing.T) {
	t.Parallel()
	used := map[string][]string{}
	for path, r := range cases.Sorted(rooms(t)) {
		name := strings.TrimPrefix(path, "internal/")
		for technology, allowed := range cases.Sorted(technologies()) {
			if !slices.ContainsFunc(r.Imports, func(other string) bool {
				return other == technology || strings.HasPrefix(other, technology+"/")
			}) {
				continue
			}
			used[technology] = append(used[technology], name)
			if !slices.ContainsFunc(strings.Fields(allowed), func(where string) bool { return inside(name, where) }) {
				t.Errorf("%s imports %s, which is for %s", name, technology, allowed)
			}
		}
	}
	for technology, allowed := range cases.Sorted(technologies()) {
		for where := range strings.FieldsSeq(allowed) {
			if !slices.ContainsFunc(used[technology], func(name string) bool { return inside(name, where) }) {
				t.Errorf("%s is listed for %s, which does not import it", technology, where)
			}
		}
	}
}

// inside reports whether a room is the one that a list names: with /... at its end
// that means the rooms inside as well.
func inside(name, where string) bool {
	whole, deep := strings.CutSuffix(where, "/...")
	return name == whole || deep && strings.HasPrefix(name, whole+"/")
}
