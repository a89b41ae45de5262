package store_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(tb testing.TB, config store.Config) *store.Store {
	tb.Helper()
	config.Logger = slog.New(slog.DiscardHandler)
	s, err := store.Open(tb.Context(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func TestOpenNeedsOneDatabase(t *testing.T) {
	t.Parallel()
	for name, config := range cases.Sorted(map[string]store.Config{
		"none":         {},
		"both":         {Path: "recado.db", URL: "postgres://localhost/recado"},
		"no URL":       {URL: "postgres://localhost:port"},
		"not a folder": {Path: filepath.Join("store_test.go", "recado.db")},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config.Logger = slog.New(slog.DiscardHandler)
			if s, err := store.Open(t.Context(), config); err == nil {
				_ = s.Close()
				t.Error("opened")
			}
		})
	}
}

// Whatever people write can be kept and searched, and whatever they search for is no error. A
// text is found by its own words.
func FuzzSearch(f *testing.F) {
	for _, text := range []string{"Pedido 1042: amanhã", `" OR words:x NOT *`, "日本語", "a\xffb", "\u0130\u0301", "' & ! <-> :*", ""} {
		f.Add(text)
	}
	s, err := store.Open(f.Context(), store.Config{Path: filepath.Join(f.TempDir(), "recado.db"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	account := gateway.Account{ID: uuid.NewString(), Name: "account"}
	instance := gateway.Instance{ID: uuid.NewString(), AccountID: account.ID, Status: gateway.StatusConnected}
	if err := s.CreateAccount(f.Context(), account); err != nil {
		f.Fatal(err)
	}
	if err := s.CreateInstance(f.Context(), instance); err != nil {
		f.Fatal(err)
	}
	party := gateway.Party{JID: "5511999990000@s.whatsapp.net"}
	f.Fuzz(func(t *testing.T, text string) {
		text = gateway.CleanText(text, gateway.MaxText)
		id := uuid.Must(uuid.NewV7()).String()
		message := gateway.Message{
			ID: id, InstanceID: instance.ID, PlatformID: id, WireKey: id, Chat: party, Sender: party,
			Type: gateway.TypeText, Source: gateway.SourcePeer, Text: text, SentAt: time.Now(), CreatedAt: time.Now(),
		}
		if _, err := s.AddMessage(t.Context(), message); err != nil {
			t.Fatal(err)
		}
		chat, _, err := s.Chats.FindChat(t.Context(), instance.ID, party)
		if err != nil {
			t.Fatal(err)
		}
		found := func() int {
			page, err := s.Chats.ListMessages(t.Context(), instance.ID, gateway.MessageFilter{ChatID: chat.ID, Search: text}, gateway.PageRequest{Page: 1, Limit: 1})
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			return len(page.Items)
		}
		before := found()
		if err := s.Chats.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after := found(); after != before {
			t.Errorf("%q finds %d before it is in the index, and %d after", text, before, after)
		}
	})
}
