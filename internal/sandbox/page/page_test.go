package page

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/phone"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
	"github.com/recado-project/recado/internal/web/webtest"
)

func TestEveryWordIsTranslated(t *testing.T) {
	t.Parallel()
	webtest.Words(t)
}

func TestTemplatesAreSound(t *testing.T) {
	t.Parallel()
	words, err := web.ReadWords(bubbles.Files, Files)
	if err != nil {
		t.Fatal(err)
	}
	assets, err := web.NewAssets(bubbles.Files, Files)
	if err != nil {
		t.Fatal(err)
	}
	site, err := web.NewSite(web.SiteConfig{Rooms: []web.Files{bubbles.Files, Files}, Words: words, Assets: assets, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Check(); err != nil {
		t.Error(err)
	}
}

func TestAPageWithoutItsServicesIsNotMade(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Now: time.Now, Logger: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("it was made")
	}
}

// What is open stands in the address, and nothing else does.
func TestPlacesAreAddresses(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		at   place
		want string
	}{
		"nothing": {place{}, "/sandbox"},
		"one":     {place{Left: openPhone{Number: "5511999990100"}}, "/sandbox?left=5511999990100"},
		"both": {
			place{Left: openPhone{Number: "1", Chat: "2@g.us", Size: 100}, Right: openPhone{Number: "3", Before: 7}, Search: "a b"},
			"/sandbox?left=1&leftChat=2%40g.us&leftSize=100&right=3&rightBefore=7&search=a+b",
		},
	}) {
		if got := c.at.URL(); got != c.want {
			t.Errorf("%s is at %s", name, got)
		}
		address, err := url.Parse(c.want)
		if err != nil {
			t.Fatal(err)
		}
		if got := placeOf(address.Query()); got != c.at {
			t.Errorf("%s is read as %+v", c.want, got)
		}
	}
	long := strings.Repeat("1", 1000)
	if got := placeOf(url.Values{"left": {long}, "leftSize": {"99999999"}, "leftBefore": {"-4"}, "rightSize": {"x"}}); got != (place{Left: openPhone{Size: maxSize}}) {
		t.Errorf("what can't be is read as %+v", got)
	}
}

func TestFilesHaveNamesThatCanBeSaved(t *testing.T) {
	t.Parallel()
	for text, want := range cases.Sorted(map[string]string{
		"invoice.pdf": "invoice.pdf", "../../etc/passwd": "_.._etc_passwd", `a\b:c`: "a_b_c", "": "file", "...": "file", "a\r\nb": "a b",
	}) {
		if got := fileName(text); got != want {
			t.Errorf("%q is saved as %q", text, got)
		}
	}
}

func TestBubbles(t *testing.T) {
	t.Parallel()
	latitude, longitude := -23.5, math.Inf(1)
	shown := content.Shown{
		Type: "location", From: "1@s.whatsapp.net", Status: "delivered", Latitude: &latitude, Longitude: &longitude,
		Reactions: []content.Reaction{{Reaction: "👍"}, {Reaction: "❤️"}, {Reaction: "👍"}, {Reaction: ""}},
	}
	b := bubbleOf(left, "2", phone.Bubble{Shown: shown, Place: 7, Sender: "\n"}, true)
	if b.Sender != "1" || !b.Unread || b.Status != "" || b.Element != "left-m7" || b.Path != "/sandbox/ui/phones/2/messages/7" {
		t.Errorf("the bubble is %+v", b)
	}
	if len(b.Reactions) != 2 || b.Reactions[0] != (bubbles.Reaction{Emoji: "👍", Count: 2}) {
		t.Errorf("the reactions are %v", b.Reactions)
	}
	if len(b.Map.Columns) == 0 || len(b.Map.Rows) == 0 || !strings.Contains(b.Map.Link, "-23.500000") {
		t.Errorf("the map is %+v", b.Map)
	}
	shown.Deleted, shown.FromMe, shown.Text = true, true, "secret"
	if b = bubbleOf(left, "2", phone.Bubble{Shown: shown}, true); b.Text != "" || b.Map != nil || b.Sender != "" || b.Progress() != "Delivered" {
		t.Errorf("the deleted bubble is %+v", b)
	}
}

// Who types stops by itself, and what came before the last word does not count.
func TestTypingEnds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	p := &Page{config: Config{Now: func() time.Time { return now }}}
	const ana, walk = "1@s.whatsapp.net", "9@g.us"
	me := account.Phone{JID: "2@s.whatsapp.net"}
	at := func(kind, to, value string, before time.Duration) account.Activity {
		return account.Activity{Type: kind, From: ana, To: to, Value: value, Timestamp: account.Timestamp(now.Add(-before))}
	}
	for name, c := range cases.Sorted(map[string]struct {
		seen []account.Activity
		chat string
		want web.Word
		who  string
	}{
		"nothing":       {nil, ana, "", ""},
		"types":         {[]account.Activity{at("chatstate", me.JID, "composing", 0)}, ana, "is typing…", ""},
		"records":       {[]account.Activity{at("chatstate", me.JID, "recording", 0)}, ana, "is recording…", ""},
		"long ago":      {[]account.Activity{at("chatstate", me.JID, "composing", time.Minute)}, ana, "", ""},
		"stopped":       {[]account.Activity{at("chatstate", me.JID, "composing", 2), at("chatstate", me.JID, "paused", 1)}, ana, "", ""},
		"online":        {[]account.Activity{at("presence", me.JID, "available", time.Hour), at("receipt", me.JID, "read", 0)}, ana, "online", ""},
		"gone":          {[]account.Activity{at("presence", me.JID, "unavailable", 0)}, ana, "not online", ""},
		"in a group":    {[]account.Activity{at("chatstate", walk, "composing", 0)}, walk, "is typing…", "1"},
		"somewhere":     {[]account.Activity{at("chatstate", walk, "composing", 0)}, ana, "", ""},
		"somebody else": {[]account.Activity{at("chatstate", me.JID, "composing", 0)}, "3@s.whatsapp.net", "", ""},
	}) {
		if got, who := p.doing(c.seen, me, c.chat); got != c.want || who != c.who {
			t.Errorf("%s: %q %q", name, got, who)
		}
	}
}

func TestFormsTooLargeAreNamedSo(t *testing.T) {
	t.Parallel()
	if _, ok := formError(&http.MaxBytesError{Limit: 1}).(*http.MaxBytesError); !ok { //nolint:errorlint // the error itself
		t.Error("it is another error")
	}
}

// A person whom the platform refuses something reads why, in their own language. Refusals with
// changing parts, and those that the page can't cause, are listed here.
func TestRefusalsAreTranslated(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]bool{
		"must be the chat ID of a group, or status@broadcast": true, "must be contacts, whitelist or blacklist": true,
		"a status post can only be deleted": true, "must be text, image, video or voice in a status post": true,
		"a status post answers nothing, mentions nobody, and can be opened again": true, "the wire can't carry this stanza": true, "must be a waHistorySync.HistorySync": true,
		"needs viewOnce, and a person as the receiver": true, "no account has this LID": true, "must be one of pin, future": true,
		"is not a WebAuthn request with a challenge":                            true,
		"the passkey counts less uses than before: it may be a copy":            true,
		"must be one of available, unavailable, composing, recording, paused":   true,
		"must be one of image, sticker, video, voice, audio, document, history": true,
		"must be one of text, image, video, voice, audio, document, location, contact, sticker, poll, event, order, group_invite, selection, album, content, unsupported": true,
		"must be one of going, not_going, maybe": true, "are not allowed by the event": true,
		"is a setting of a group: PUT /groups/{group}": true, "must be one of: 0, 86400, 604800, 7776000": true,
		"must have 2 to 30 images and videos": true, "needs groupId and code": true, "is required, with text": true, "the phone has no such message": true, "leads to no group": true, "the group is full": true, "must be somebody else": true, "no such call rings": true, "must be one of hangup, timeout, answer, reject": true, "is no setting, or has no such choice": true,
		"the platform refuses this: the owner of the community must be an admin of the group, which is in no other community": true,
	}
	known := map[string]bool{}
	for _, reason := range reasons() {
		known[string(reason)] = true
	}
	files, err := filepath.Glob("../*/*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, text := range refusalsIn(t, file) {
			if !known[text] && !elsewhere[text] && !strings.Contains(text, "%") {
				t.Errorf("%s refuses with %q, which is not translated", file, text)
			}
		}
	}
}

// refusalsIn returns the fixed texts of the refusals in a file.
func refusalsIn(t *testing.T, path string) (texts []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		called, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !strings.HasSuffix(called.Sel.Name, "f") {
			return true
		}
		if from, ok := called.X.(*ast.Ident); !ok || from.Name != "refusal" {
			return true
		}
		at := 0
		if called.Sel.Name == "Invalidf" {
			at = 1
		}
		texts = append(texts, literal(t, call.Args[at]))
		return true
	})
	return texts
}

// literal returns the text of a string that may be put together from several.
func literal(t *testing.T, expression ast.Expr) string {
	t.Helper()
	switch e := expression.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		return text
	case *ast.BinaryExpr:
		return literal(t, e.X) + literal(t, e.Y)
	default:
		return ""
	}
}
