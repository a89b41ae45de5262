package dashboard_test

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// wrote adds a message that somebody has written to an instance.
func (r *rig) wrote(instanceID, number, text string) {
	r.t.Helper()
	r.wroteMore(instanceID, number, text, gateway.TypeText, gateway.Details{})
}

// encoded are details as the rig's describer reads them.
func encoded(tb testing.TB, details gateway.Details) []byte {
	tb.Helper()
	var payload bytes.Buffer
	if err := gob.NewEncoder(&payload).Encode(details); err != nil {
		tb.Fatal(err)
	}
	return payload.Bytes()
}

func (r *rig) wroteMore(instanceID, number, text string, kind gateway.MessageType, details gateway.Details) {
	r.t.Helper()
	payload := encoded(r.t, details)
	at, with := time.Now(), gateway.Party{JID: gateway.JID(number + "@s.whatsapp.net")}
	r.check(r.store.AddHistory(r.t.Context(), instanceID, []gateway.Message{{
		ID: uuid.Must(uuid.NewV7()).String(), InstanceID: instanceID, PlatformID: "3EB0" + number, Chat: with, Sender: with,
		Source: gateway.SourcePeer, Type: kind, Text: text, Payload: payload, Status: gateway.MessageDelivered, StatusAt: at, SentAt: at, WireKey: number, CreatedAt: at,
	}}))
}

// arrange arranges a chat, as the account's phone does.
func (r *rig) arrange(instanceID, number string, change gateway.ChatChange) {
	r.t.Helper()
	r.check(r.store.ArrangeChats(r.t.Context(), instanceID, []gateway.ChatUpdate{{
		Chat: gateway.Party{JID: gateway.JID(number + "@s.whatsapp.net")}, ChatChange: change, At: time.Now(),
	}}))
}

// What businesses write is shown with its buttons and what it answers, whatever these hold.
func TestWhatBusinessesWriteIsShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	open := func(number string) string {
		return r.show(gateway.RoleViewer, "/instances/"+id+"/chats?chat="+url.QueryEscape(number+"@s.whatsapp.net"))
	}
	r.wroteMore(id, "5511988887766", "Your order is on its way", gateway.TypeText, gateway.Details{
		Buttons: []gateway.Button{{Text: "Follow <b>it</b>", URL: "https://example.org"}, {ID: "without a text"}},
		Quoted:  &gateway.Quoted{Text: "Where is <i>it</i>?"},
	})
	page := open("5511988887766")
	r.has(page, "Your order is on its way", "Follow &lt;b&gt;it&lt;/b&gt;", "Where is &lt;i&gt;it&lt;/i&gt;?")
	r.hasNot(page, "without a text")
	r.wroteMore(id, "5511977776664", "", gateway.TypePayment, gateway.Details{Payment: &gateway.Payment{Kind: gateway.PaymentCancelled}})
	r.has(open("5511977776664"), "Payment")
	r.wroteMore(id, "5511966665555", "Blue cup", gateway.TypeProduct, gateway.Details{Product: &gateway.Product{Title: "Blue cup"}})
	r.has(open("5511966665555"), "Product", "Blue cup")
}

// How chats are arranged is beside their names, and the archived ones can be listed alone. Who
// may only look finds nothing to arrange them with.
func TestArrangedChatsAreShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	const archived, muted, plain = "5511988887766", "5511977776664", "5511966665552"
	for number, text := range cases.Sorted(map[string]string{archived: "Um", muted: "Dois", plain: "Três"}) {
		r.wrote(id, number, text)
	}
	r.arrange(id, archived, gateway.ChatChange{Archived: new(true), MutedUntil: new(time.Now().Add(-time.Hour))})
	r.arrange(id, muted, gateway.ChatChange{Read: new(true)})
	r.arrange(id, muted, gateway.ChatChange{Pinned: new(true), MutedUntil: new(gateway.MutedForever()), Read: new(false)})
	path := "/instances/" + id + "/chats"

	page := r.show(gateway.RoleViewer, path)
	r.has(page, archived, muted, plain, `title="Archived"`, `title="Pinned"`, `title="Muted"`, `title="Marked as unread"`)
	page = r.show(gateway.RoleViewer, path+"?folder=archived")
	r.has(page, archived, "folder=archived", `aria-current="true">Archived only`)
	r.hasNot(page, muted, plain, `title="Muted"`) // that mute has ended
	r.hasNot(r.show(gateway.RoleViewer, path+"?folder=inbox"), archived)
	r.has(r.show(gateway.RoleViewer, path+"?folder=%3Cb%3E&search=5511"), archived, plain)
	r.has(r.show(gateway.RoleViewer, path+"?folder=archived&search=5511966665552"), "No chat is like this.")

	open := path + "?chat=" + url.QueryEscape(muted+"@s.whatsapp.net")
	r.has(r.show(gateway.RoleOperator, open), `value="archive"`, `value="unpin"`, `value="unmute"`, `value="read"`)
	r.has(r.show(gateway.RoleOperator, path+"?chat="+url.QueryEscape(archived+"@s.whatsapp.net")), `value="unarchive"`, `value="mute-week"`)
	r.hasNot(r.show(gateway.RoleViewer, open), `name="change"`, "/arrange")
	r.hasNot(r.show(gateway.RoleOperator, path+"?chat=5511900000000%40s.whatsapp.net"), `name="change"`) // there is no such chat
}

// A change that can't be made is refused, and is not in the audit list.
func TestRefusedArrangementIsNotRecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	r.wrote(id, "5511988887766", "Oi")
	path, chat := "/instances/"+id+"/chats/arrange", "5511988887766@s.whatsapp.net"
	for name, one := range cases.Sorted(map[string]struct {
		role   gateway.Role
		form   url.Values
		status int
	}{
		"a viewer":      {gateway.RoleViewer, url.Values{"chat": {chat}, "change": {"pin"}}, http.StatusForbidden},
		"no chat":       {gateway.RoleOperator, url.Values{"change": {"pin"}}, http.StatusBadRequest},
		"no change":     {gateway.RoleOperator, url.Values{"chat": {chat}}, http.StatusBadRequest},
		"another":       {gateway.RoleOperator, url.Values{"chat": {chat}, "change": {"delete"}}, http.StatusBadRequest},
		"not connected": {gateway.RoleOperator, url.Values{"chat": {chat}, "change": {"pin"}}, http.StatusConflict},
	}) {
		if got := r.post(one.role, path, one.form); got.status != one.status || got.header.Get("X-Problem") == "" {
			t.Errorf("%s: answered %d %v, want %d", name, got.status, got.header, one.status)
		}
	}
	if entries := r.recorded(); entries != "" {
		t.Errorf("recorded %q", entries)
	}
}

// The labels of chats are beside their names, whatever the names try, and choose among the chats.
func TestLabelsOfChatsAreShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	const paid, plain = "5511988887766", "5511977776664"
	chat := paid + "@s.whatsapp.net"
	path := "/instances/" + id + "/chats"
	r.wrote(id, paid, "Um")
	r.wrote(id, plain, "Dois")
	page := r.show(gateway.RoleOperator, path+"?chat="+url.QueryEscape(chat))
	r.has(page, "This account has no labels yet.")
	r.hasNot(page, "All labels")

	named := func(id, name string, color int) gateway.LabelChange {
		return gateway.LabelChange{Act: gateway.LabelSet, Label: gateway.Label{ID: id, Name: name, Color: color}, At: time.Now()}
	}
	r.check(r.store.ArrangeLabels(t.Context(), id, []gateway.LabelChange{
		named("3", "<script>Pago</script>", 11), named("7", "", -5),
		{Act: gateway.LabelPut, Label: gateway.Label{ID: "3"}, Chat: gateway.Party{JID: gateway.JID(chat)}, At: time.Now()},
	}))
	page = r.show(gateway.RoleOperator, path+"?chat="+url.QueryEscape(chat))
	r.has(page, `<span class="tag cut hue-3" dir="auto">&lt;script&gt;Pago&lt;/script&gt;</span>`, "Label 7", `name="off" value="3" aria-pressed="true"`, `name="on" value="7" aria-pressed="false"`)
	page = r.show(gateway.RoleViewer, path+"?label=3")
	r.has(page, paid, `value="3" selected`, "label=3")
	r.hasNot(page, plain, `name="on"`, "/label\"")
	r.has(r.show(gateway.RoleViewer, path+"?label=7"), "No chat is like this.")

	label := path + "/label"
	for name, one := range cases.Sorted(map[string]struct {
		role   gateway.Role
		form   url.Values
		status int
	}{
		"a viewer":      {gateway.RoleViewer, url.Values{"chat": {chat}, "on": {"7"}}, http.StatusForbidden},
		"no label":      {gateway.RoleOperator, url.Values{"chat": {chat}}, http.StatusBadRequest},
		"no chat":       {gateway.RoleOperator, url.Values{"on": {"7"}}, http.StatusBadRequest},
		"another label": {gateway.RoleOperator, url.Values{"chat": {chat}, "on": {"9"}}, http.StatusNotFound},
		"another chat":  {gateway.RoleOperator, url.Values{"chat": {"5511900000000@s.whatsapp.net"}, "on": {"7"}}, http.StatusNotFound},
		"not connected": {gateway.RoleOperator, url.Values{"chat": {chat}, "off": {"3"}}, http.StatusConflict},
	}) {
		if got := r.post(one.role, label, one.form); got.status != one.status || got.header.Get("X-Problem") == "" {
			t.Errorf("%s: answered %d %v, want %d", name, got.status, got.header, one.status)
		}
	}
	if entries := r.recorded(); entries != "" {
		t.Errorf("recorded %q", entries)
	}
}

// conversation adds messages to a chat, a millisecond apart, and returns them.
func (r *rig) conversation(instanceID, number string, begin time.Time, many int) (messages []gateway.Message) {
	r.t.Helper()
	for n := range many {
		at, with := begin.Add(time.Duration(n)*time.Millisecond), gateway.Party{JID: gateway.JID(number + "@s.whatsapp.net")}
		messages = append(messages, gateway.Message{
			ID: uuid.Must(uuid.NewV7()).String(), InstanceID: instanceID, PlatformID: fmt.Sprint("3EB0", n), Chat: with, Sender: with, Source: gateway.SourcePeer,
			Type: gateway.TypeText, Text: fmt.Sprintf("No. %d.", n), Payload: encoded(r.t, gateway.Details{}), Status: gateway.MessageDelivered,
			StatusAt: at, SentAt: at, WireKey: fmt.Sprint("k", n), CreatedAt: at,
		})
	}
	r.check(r.store.AddHistory(r.t.Context(), instanceID, messages))
	return messages
}

// However much has happened since, an old message has its reactions, and a call its line.
func TestOldMessagesHaveTheirReactions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	const number = "5511988887766"
	begin := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	messages := r.conversation(id, number, begin, 60)
	happened := func(chat gateway.JID, key string, at time.Time, data eventlog.Data) eventlog.Event {
		event, err := eventlog.NewEvent(id, chat, key, at, data)
		r.check(err)
		return event
	}
	called := messages[4].SentAt
	r.check(r.store.AppendEvents(t.Context(), id, happened(messages[0].Chat.JID, "call", called,
		eventlog.NewCallReceived(gateway.Call{ID: "C", From: messages[0].Chat, Chat: messages[0].Chat, At: called}))))
	r.check(r.store.KeepReaction(t.Context(), id, gateway.StoredReaction{MessageID: messages[3].ID, By: messages[0].Chat, Reaction: "🎉", At: called},
		happened(messages[0].Chat.JID, "reaction", called, eventlog.MessageReaction{})))
	for n := range 500 {
		at := begin.Add(time.Duration(n) * time.Second)
		r.check(r.store.AppendEvents(t.Context(), id, happened("120363041234567890@g.us", fmt.Sprint("n", n), at,
			eventlog.NewGroupUpdated(gateway.GroupChange{Group: "120363041234567890@g.us", At: at}))))
	}
	chat := fmt.Sprintf("/instances/%s/chats?chat=%s", id, url.QueryEscape(number+"@s.whatsapp.net"))
	r.hasNot(r.show(gateway.RoleViewer, chat), "🎉", "No. 3.")
	before := fmt.Sprintf("at=%d.", messages[10].SentAt.UnixMilli())
	for _, page := range []string{chat + "&" + before, strings.Replace(chat, "/chats?", "/chats/older?", 1) + "&" + before} {
		shown := r.show(gateway.RoleViewer, page)
		_, after, _ := strings.Cut(shown, "No. 3.")
		reaction, after, _ := strings.Cut(after, "No. 4.")
		line, _, _ := strings.Cut(after, "No. 5.")
		r.has(reaction, "🎉")
		r.has(line, "call")
		r.hasNot(shown, "No. 10.")
	}
}

// An open page collects what comes, up to a bound; beyond it there is a way to what came in between.
func TestOpenChatCollectsWhatComes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	const number = "5511988887766"
	begin := time.Now()
	r.conversation(id, number, begin, 310)
	since := func(n int) string {
		return r.show(gateway.RoleViewer, fmt.Sprintf("/instances/%s/chats?chat=%s&from=%d.", id, url.QueryEscape(number+"@s.whatsapp.net"), begin.Add(time.Duration(n)*time.Millisecond).UnixMilli()))
	}
	const gap = `id="inbox-log" role="log" aria-live="polite" aria-relevant="additions text" hx-swap-oob="morph" hx-target="#dialog-body">`
	log := func(page string) string { _, after, _ := strings.Cut(page, gap); return after }
	few, all := log(since(100)), log(since(0))
	r.has(few, "No. 100.", "No. 309.")
	r.hasNot(few, "No. 98.", "Older messages")
	r.has(all, "No. 10.", "No. 309.", "Older messages")
	r.hasNot(all, "No. 9.")
}

// A search in the list finds messages of all chats too, each a link to its moment in its chat, with the
// words marked and all else escaped. What keeps the page up to date does not search again.
func TestSearchFindsMessagesOfAllChats(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	path := "/instances/" + id + "/chats"
	for n := range 25 {
		r.wrote(id, fmt.Sprintf("55119888800%02d", n), fmt.Sprintf("Encomenda <b>%d</b> é sua", n))
	}
	r.wrote(id, "5511977776664", "Nada de 100%")
	hits := func(query string) string {
		t.Helper()
		_, after, found := strings.Cut(r.show(gateway.RoleViewer, path+"?"+query), `id="inbox-hits">`)
		if !found {
			t.Fatal("there is no place for messages")
		}
		part, _, _ := strings.Cut(after, "</section>")
		return part
	}
	link := hits("search=ENCOMENDA&folder=inbox")
	r.has(link, "said=20", "search=ENCOMENDA", "folder=inbox", `hx-trigger="load, click"`)
	r.hasNot(link, "<mark>")
	first := hits("search=ENCOMENDA&said=20")
	r.has(first, "Messages", "5511988880024</bdi>", "<mark>Encomenda</mark> &lt;b&gt;24&lt;/b&gt; é sua", "&lt;b&gt;5&lt;", "said=40", "chat=5511988880024%40s.whatsapp.net", "#m-", "search=ENCOMENDA")
	r.hasNot(first, "&lt;b&gt;4&lt;", "<b>2")
	all := hits("search=encomenda&said=40")
	r.has(all, "&lt;b&gt;4&lt;", "&lt;b&gt;0&lt;")
	r.hasNot(all, "More messages")
	r.has(hits("search=encomenda&said=9999999"), "&lt;b&gt;0&lt;")
	for _, none := range []string{"", "search=e&said=20", "search=%25%25&said=20", "search=_ncomenda&said=20", "search=comenda&said=20", "said=40", "said=20&search=" + url.QueryEscape("' OR 1=1 --")} {
		r.hasNot(hits(none), "<mark>", "Encomenda")
	}
	_, link, _ = strings.Cut(first, `<li><a href="`)
	link, _, _ = strings.Cut(link, `#`)
	r.has(r.show(gateway.RoleViewer, strings.ReplaceAll(link, "&amp;", "&")), `class="text"`, "Encomenda &lt;b&gt;24&lt;/b&gt;", "Newest messages")
}

// The inbox of an instance with 5,000 chats, one of which has 95,000 messages: the whole page, and a
// page of messages in the middle of the chat.
func BenchmarkInbox(b *testing.B) {
	r := newRig(b)
	id := r.instance("Desk")
	const busy = "5511988887766"
	for n := range 5000 {
		r.wrote(id, fmt.Sprintf("55119%08d", n), "Oi, tudo bem?")
	}
	const many, atOnce = 95_000, 500
	var middle time.Time
	for n := 0; n < many; n += atOnce {
		var batch []gateway.Message
		for m := range atOnce {
			at := time.Now().Add(time.Duration(n+m) * time.Millisecond)
			with := gateway.Party{JID: busy + "@s.whatsapp.net"}
			if n+m == many/2 {
				middle = at
			}
			batch = append(batch, gateway.Message{
				ID: uuid.Must(uuid.NewV7()).String(), InstanceID: id, PlatformID: fmt.Sprint("3EB0", n+m), Chat: with, Sender: with,
				Source: gateway.SourcePeer, Type: gateway.TypeText, Text: fmt.Sprint("Mensagem ", n+m), Payload: encoded(b, gateway.Details{}), Status: gateway.MessageDelivered,
				StatusAt: at, SentAt: at, WireKey: fmt.Sprint("k", n+m), CreatedAt: at,
			})
		}
		r.check(r.store.AddHistory(b.Context(), id, batch))
	}
	chat := "/instances/" + id + "/chats?chat=" + busy + "%40s.whatsapp.net"
	for name, path := range cases.Sorted(map[string]string{
		"list": "/instances/" + id + "/chats", "chat": chat, "middle": fmt.Sprint(chat, "&at=", middle.UnixMilli(), "."), "found": chat + "&find=mensagem", "search": chat + "&search=5511900004",
		"words": chat + "&search=nobody+says+this&said=20", "common": chat + "&search=mensagem&said=20",
	}) {
		b.Run(name, func(b *testing.B) {
			var page string
			for b.Loop() {
				page = r.show(gateway.RoleOperator, path)
			}
			b.ReportMetric(float64(len(page)), "bytes/page")
		})
	}
}
