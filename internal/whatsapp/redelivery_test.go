package whatsapp_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/profile"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

// keyOf names what a call hands over, the same for every delivery of it.
func keyOf(call recorded) string {
	switch call.what {
	case "message", "message refused":
		return call.message.WireKey
	case "change", "change refused":
		return call.change.PlatformID + call.change.Text
	case "receipt", "receipt refused":
		return call.receipt.MessageIDs[0] + call.receipt.Status.String()
	case "group", "group refused":
		return call.group.SourceKey
	case "contact", "contact refused":
		return call.contact.SourceKey
	case "call", "call refused":
		return call.call.ID
	case "restricted", "restricted refused":
		return call.restriction.Until.String()
	default:
		return ""
	}
}

// What could not be kept comes again, once, without anybody's help: the session
// makes its connection anew.
func TestWhatWasNotKeptComesAgain(t *testing.T) {
	t.Parallel()
	const awayNumber = "5511988880002" // fetches its messages on command
	tests := map[string]struct {
		what string
		do   func(ctx context.Context, w world, team string) error
	}{
		"message": {"message", func(ctx context.Context, w world, _ string) error {
			_, err := w.box.Phones.SendMessage(ctx, peerNumber, content.Outgoing{To: ownNumber, Type: "text", Text: "Bom dia"})
			return err
		}},
		"message in a group": {"message", func(ctx context.Context, w world, team string) error {
			_, err := w.box.Phones.SendMessage(ctx, peerNumber, content.Outgoing{To: team, Type: "text", Text: "Bom dia"})
			return err
		}},
		"receipt": {"receipt", func(ctx context.Context, w world, _ string) error {
			_, err := w.box.Profiles.Update(ctx, awayNumber, profile.Update{Online: new(true)})
			return err
		}},
		"subject of a group": {"group", func(ctx context.Context, w world, team string) error {
			_, err := w.box.Groups.Update(ctx, team, group.Update{Subject: new("Another")})
			return err
		}},
		"picture of a group": {"group", func(ctx context.Context, w world, team string) error {
			_, err := w.box.Groups.Update(ctx, team, group.Update{SetPicture: true, Picture: []byte("picture")})
			return err
		}},
		"call": {"call", func(ctx context.Context, w world, _ string) error {
			_, err := w.box.Calls.Call(ctx, peerNumber, ownNumber, false)
			return err
		}},
		"restriction": {"restricted", func(ctx context.Context, w world, _ string) error {
			return w.box.Sessions.Restrict(ctx, ownNumber, time.Hour)
		}},
	}
	for name, c := range cases.Sorted(tests) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, whatsapp.Config{})
			session, e, _ := w.link(t)
			if _, err := w.sendTo(t, session, awayNumber, "hello"); err != nil {
				t.Fatal(err)
			}
			w.awaitAnswers(t, session)
			team, err := w.box.Groups.Create(t.Context(), group.Draft{
				Subject: "Team", Owner: peerNumber, Members: []group.NewMember{{Number: ownNumber}},
			})
			if err != nil {
				t.Fatal(err)
			}
			e.await(t, "group")
			e.refuseNext(c.what)
			if err := c.do(t.Context(), w, team.ID); err != nil {
				t.Fatal(err)
			}
			key := keyOf(e.await(t, c.what+" refused"))
			for keyOf(e.await(t, c.what)) != key { // others may have come behind it
			}
			untilMarker := func() {
				t.Helper()
				marker := w.say(t, peerNumber, content.Outgoing{To: ownNumber, Type: "text", Text: "marker"})
				for call := e.next(t); call.message.PlatformID != marker; call = e.next(t) {
					if keyOf(call) == key {
						t.Errorf("it came once more, as %s", call.what)
					}
				}
			}
			// Behind the marker the acknowledgement has been written, and behind the
			// answer to a question the platform has read it.
			untilMarker()
			if _, err := session.People().Resolve(t.Context(), []string{peerNumber}); err != nil {
				t.Fatal(err)
			}
			// So it does not come with the next connection.
			if err := w.box.Sessions.Disconnect(t.Context(), ownNumber); err != nil {
				t.Fatal(err)
			}
			untilMarker()
		})
	}
}

// lateLines notes whether a session went on before the last connection was handled to its end.
type lateLines struct{ noted atomic.Bool }

func (l *lateLines) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("still being handled")) {
		l.noted.Store(true)
	}
	return len(line), nil
}

// After something that was not kept nothing of the same connection is: it would
// be out of order. If the library no longer says when it has handled a connection to its end, each
// new connection waits in vain.
func TestOrderIsKeptOverAFailure(t *testing.T) {
	t.Parallel()
	late := new(lateLines)
	w := newWorld(t, whatsapp.Config{Logger: slog.New(slog.NewTextHandler(late, nil))})
	session, _, device := w.link(t)
	session.Close()
	const messages = 20
	for n := range messages {
		w.say(t, peerNumber, content.Outgoing{To: ownNumber, Type: "text", Text: string(rune('a' + n))})
	}
	again := newRecorder()
	for range 3 {
		again.refuseNext("message")
	}
	session, err := w.connector.Open(t.Context(), gateway.Instance{ID: instanceID, Device: device}, again, again)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	session.Start()
	for n := range messages {
		if got := again.await(t, "message").message.Text; got != string(rune('a'+n)) {
			t.Fatalf("message %d is %q", n, got)
		}
	}
	if late.noted.Load() {
		t.Error("a connection was made while the last one was still being handled")
	}
}
