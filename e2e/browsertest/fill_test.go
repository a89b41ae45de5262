// A program that has been in use for long: a thousand of everything.

package browsertest_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

const many = 1000

// Words that are hard to put on a page.
const (
	longWord = "PneumoultramicroscopicossilicovulcanoconióticoPneumoultramicroscopicossilicovulcanoconióticoPneumoultramicroscopicossilicovulcanoconiótico"
	longLine = "https://example.org/" + longWord + "/" + longWord
)

// filling writes into the store of a program that does not run yet.
type filling struct {
	*store.Store

	t       *testing.T
	account gateway.Account
	at      time.Time
	busy    gateway.Instance // has a thousand chats, events and deliveries
}

// fill returns a data folder with a thousand of everything, and the instance that has it.
func fill(t *testing.T) (folder, instanceID string) {
	t.Helper()
	folder = t.TempDir()
	opened, err := store.Open(t.Context(), store.Config{Path: filepath.Join(folder, "recado.db"), Bell: &eventlog.Bell{}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	f := &filling{Store: opened, t: t, at: time.Now().Add(-48 * time.Hour).Truncate(time.Second)}
	f.account = gateway.Account{ID: f.id(), Name: "test", CreatedAt: f.at}
	f.check(f.CreateAccount(t.Context(), f.account))
	f.instances()
	f.people()
	f.messages()
	f.queued()
	f.deliveries()
	f.check(opened.Close())
	return folder, f.busy.ID
}

func (f *filling) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *filling) id() string { return uuid.Must(uuid.NewV7()).String() }

// each does something a thousand times. Writers that come at the same time share a commit.
func (f *filling) each(do func(ctx context.Context, n int) error) {
	f.t.Helper()
	group, ctx := errgroup.WithContext(f.t.Context())
	group.SetLimit(32)
	for n := range many {
		group.Go(func() error { return do(ctx, n) })
	}
	f.check(group.Wait())
}

// instances are in every state that needs no session.
func (f *filling) instances() {
	f.t.Helper()
	states := []struct {
		status gateway.Status
		reason gateway.Reason
	}{
		{gateway.StatusCreated, ""},
		{gateway.StatusStopped, gateway.ReasonLoggedOut},
		{gateway.StatusStopped, gateway.ReasonUnlinked},
		{gateway.StatusQRTimeout, gateway.ReasonQRExpired},
		{gateway.StatusError, gateway.ReasonBanned},
		{gateway.StatusError, gateway.ReasonReplaced},
		{gateway.StatusError, gateway.ReasonClientOutdated},
		{gateway.StatusPaymentPending, gateway.ReasonPayment},
	}
	f.each(func(ctx context.Context, n int) error {
		one := gateway.Instance{
			ID: f.id(), AccountID: f.account.ID, Name: fmt.Sprintf("Padaria %d", n), Status: states[n%len(states)].status, Reason: states[n%len(states)].reason,
			CreatedAt: f.at.Add(time.Duration(n) * time.Second), UpdatedAt: f.at.Add(time.Duration(n) * time.Second),
		}
		switch {
		case n == 0:
			f.busy = one
		case n%50 == 1:
			one.Name = longWord
		}
		if n%3 == 0 {
			one.Profile = gateway.Profile{JID: gateway.JID(fmt.Sprintf("55119%08d@s.whatsapp.net", n)), Name: "Conceição"}
		}
		return f.CreateInstance(ctx, one)
	})
}

// people are users, keys, and what they did.
func (f *filling) people() {
	f.t.Helper()
	f.check(f.Users.CreateUser(f.t.Context(), gateway.User{ID: f.id(), AccountID: f.account.ID, Name: "conceicao", Role: gateway.RoleOwner, Password: "x", CreatedAt: f.at.Add(-time.Hour)}))
	f.each(func(ctx context.Context, n int) error {
		roles := []gateway.Role{gateway.RoleViewer, gateway.RoleOperator, gateway.RoleOwner}
		if err := f.Users.CreateUser(ctx, gateway.User{
			ID: f.id(), AccountID: f.account.ID, Name: fmt.Sprintf("pessoa%d@example.org", n), Role: roles[n%3], CreatedAt: f.at.Add(time.Duration(n) * time.Second),
		}); err != nil {
			return err
		}
		key := gateway.Key{ID: f.id(), AccountID: f.account.ID, Name: fmt.Sprintf("Caixa %d", n), Hash: []byte(f.id()), CreatedAt: f.at.Add(time.Duration(n) * time.Second)}
		switch n % 4 {
		case 1:
			key.InstanceIDs, key.Name = []string{f.busy.ID}, longWord
		case 2:
			key.Partner, key.ExpiresAt = true, f.at
		case 3:
			key.InstanceIDs, key.RevokedAt, key.LastUsedAt = []string{f.busy.ID, f.id()}, f.at, f.at
		}
		if err := f.CreateKey(ctx, key); err != nil {
			return err
		}
		actions := []string{"instance.created", "key.created", "message.sent", "webhook.saved", "user.invited"}
		return f.Users.AddAudit(ctx, gateway.AuditEntry{
			ID: f.id(), AccountID: f.account.ID, UserName: "conceicao", Action: actions[n%len(actions)], Subject: longWord, Detail: "x", Address: "2001:db8:1234:5678:9abc:def0:1234:5678", At: f.at,
		})
	})
}

// messages are one in each of a thousand chats, and a thousand in one of them.
func (f *filling) messages() {
	f.t.Helper()
	customer := gateway.Party{JID: customerNumber + "@s.whatsapp.net", Name: "Ana " + longWord}
	texts := []string{"Oi! Ainda tem?", longLine, "שלום, יש לחם?", strings.Repeat("Uma conversa comprida. ", 30)}
	list := make([]gateway.Message, 0, 2*many)
	for n := range 2 * many {
		at := f.at.Add(time.Duration(n) * time.Minute)
		m := gateway.Message{
			ID: f.id(), InstanceID: f.busy.ID, PlatformID: fmt.Sprintf("3EB0%06d", n), Chat: customer, Sender: customer, Source: gateway.SourcePeer,
			Type: gateway.TypeText, Text: texts[n%len(texts)], Status: gateway.MessageDelivered, StatusAt: at, SentAt: at, WireKey: fmt.Sprint(n), CreatedAt: at,
		}
		switch {
		case n < many:
			m.Chat = gateway.Party{JID: gateway.JID(fmt.Sprintf("55119%08d@s.whatsapp.net", n))}
			m.Sender = m.Chat
		case n%3 == 0:
			m.FromMe, m.Source, m.Sender, m.Status = true, gateway.SourceAPI, gateway.Party{}, gateway.MessageStatus(n%6)
		case n%10 == 1:
			m.DeletedAt, m.Text = at, ""
		case n%10 == 2:
			m.Type, m.Text = gateway.TypeUnsupported, ""
		}
		list = append(list, m)
	}
	f.check(f.AddHistory(f.t.Context(), f.busy.ID, list))
	events := make([]eventlog.Event, many)
	for n := range events {
		event, err := eventlog.NewEvent(f.busy.ID, list[n].Chat.JID, "", f.at.Add(time.Duration(n)*time.Second), eventlog.MessageReceived{Message: eventlog.NewMessage(list[n], gateway.Details{})})
		f.check(err)
		events[n] = event
	}
	f.check(f.AppendEvents(f.t.Context(), f.busy.ID, events...))
}

// queued are a thousand messages that wait: one half for a time, the other for an instance that
// never connects.
func (f *filling) queued() {
	f.t.Helper()
	texts := []string{"Seu pedido saiu.", longLine, "שלום, הלחם מוכן", "", strings.Repeat("Uma conversa comprida. ", 30)}
	kinds := []gateway.MessageType{gateway.TypeText, gateway.TypeText, gateway.TypeImage, gateway.TypeVoice, gateway.TypeDocument}
	f.each(func(ctx context.Context, n int) error {
		message := queue.Message{
			ID: f.id(), InstanceID: f.busy.ID, PlatformID: fmt.Sprintf("3EBA%06d", n), To: gateway.Recipient{Number: fmt.Sprintf("55119%08d", n)},
			Type: kinds[n%len(kinds)], Text: texts[n%len(texts)], DueAt: f.at.Add(time.Duration(n) * time.Second), CreatedAt: f.at,
		}
		if n%2 == 0 {
			message.DueAt = message.DueAt.Add(30 * 24 * time.Hour)
		}
		if n%7 == 1 {
			message.To = gateway.Recipient{Chat: "120363025246125486@g.us"}
		}
		return f.AddQueued(ctx, message, nil)
	})
}

// deliveries are a thousand attempts of every outcome.
func (f *filling) deliveries() {
	f.t.Helper()
	hook := webhook.Webhook{ID: f.id(), InstanceID: f.busy.ID, First: true, URL: longLine, Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", Active: true, CreatedAt: f.at, UpdatedAt: f.at}
	state := backlog.State{Status: backlog.StatusSuspended, Reason: backlog.ReasonUnreachable, Cursor: many - 50, Failures: 7, FailingSince: f.at}
	f.check(f.Webhooks.SaveWebhook(f.t.Context(), hook, &state))
	f.check(f.Webhooks.SaveWebhook(f.t.Context(), webhook.Webhook{
		ID: f.id(), InstanceID: f.busy.ID, URL: "https://crm.example.org/recado", Active: true, MediaLinks: true, CreatedAt: f.at.Add(time.Second), UpdatedAt: f.at,
		Filter:  webhook.Filter{Kinds: []eventlog.Kind{eventlog.KindMessageReceived}, Chats: []webhook.ChatKind{webhook.ChatDirect, webhook.ChatGroup}},
		Headers: []webhook.Header{{Name: "Authorization", Value: "Bearer 7f3a"}},
	}, &backlog.State{Status: backlog.StatusOK, Cursor: many - 3}))
	progress := webhook.Progress{ID: hook.ID, InstanceID: f.busy.ID, Progress: backlog.Progress{State: state}}
	for n := range int64(many) {
		attempt := webhook.Attempt{
			Number: n + 1, Sequence: n + 1, EventID: f.id(), Kind: eventlog.KindMessageReceived, Chat: customerNumber + "@s.whatsapp.net",
			At: f.at.Add(time.Duration(n) * time.Second), Duration: time.Duration(n) * time.Millisecond, Status: 204,
		}
		switch n % 4 {
		case 1:
			attempt.Status, attempt.Error, attempt.Answer = 500, "it answered the status 500", longLine
		case 2:
			attempt.Status, attempt.Error = 0, "its host does not exist"
		}
		progress.Attempts = append(progress.Attempts, attempt)
	}
	f.check(f.Webhooks.SaveProgress(f.t.Context(), []webhook.Progress{progress}))
}

// full starts a program that has been in use for long, with a shop that is linked and has a
// message of every kind, and a phone with a thousand messages in many chats.
func full(t *testing.T) (w *world, busyID, shopID string) {
	t.Helper()
	folder, busyID := fill(t)
	w = start(t, testkit.Options{DataDir: folder})
	w.Phones.Update(t, shopNumber, map[string]any{"name": "Padaria da Conceição"})
	w.Phones.Update(t, customerNumber, map[string]any{"name": "Ana " + longWord})
	shopID = w.Link(t, shopNumber)
	everyKind(t, w)
	for n := range many {
		number := fmt.Sprintf("5511900%06d", 1010+2*(n%200)) // the last digits say how a phone behaves
		w.Phones.SendText(t, number, customerNumber, fmt.Sprintf("Mensagem %d", n))
	}
	return w, busyID, shopID
}

// everyKind makes the customer write a message of every kind to the shop.
func everyKind(t *testing.T, w *world) {
	t.Helper()
	file := func(name string) string { return w.BaseURL + "/sandbox/files/" + name }
	for _, message := range []map[string]any{
		{"type": "text", "text": "Bom dia! Ainda tem pão de queijo? 🥐"},
		{"type": "text", "text": longLine},
		{"type": "image", "media": file("photo.png"), "caption": "É este aqui"},
		{"type": "video", "media": file("clip.mp4")},
		{"type": "voice", "media": file("voice.ogg")},
		{"type": "audio", "media": file("tone.mp3")},
		{"type": "document", "media": file("invoice.pdf"), "fileName": longWord + ".pdf"},
		{"type": "sticker", "media": file("sticker.webp")},
		{"type": "location", "latitude": -23.561414, "longitude": -46.655881, "name": "MASP", "address": "Av. Paulista, 1578"},
		{"type": "contact", "contact": map[string]any{"fullName": "Bia", "phoneNumber": "5511977776664", "organization": "Mercado"}},
		{"type": "poll", "text": "Qual?", "options": []string{"Pão de queijo", longWord}},
		{"type": "image", "media": file("photo.png"), "viewOnce": true},
	} {
		message["to"] = shopNumber
		id := w.Phones.Send(t, customerNumber, message)
		w.Phones.AwaitMessage(t, shopNumber, id)
	}
}
