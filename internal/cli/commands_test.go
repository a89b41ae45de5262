package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli"
	"github.com/recado-project/recado/internal/testkit"
)

// person works on one instance of a real gateway from the command line.
type person struct {
	t    *testing.T
	g    *testkit.Gateway
	key  string
	name string // of the instance
}

const (
	shopNumber = "5511999990200"
	anaNumber  = "5511988887766"
)

func newPerson(t *testing.T) *person {
	t.Helper()
	g := testkit.Start(t, testkit.Options{})
	return &person{t: t, g: g, key: partnerKey(t, g), name: "shop"}
}

// does carries out a command that has to succeed, and returns its output.
func (p *person) does(args ...string) string {
	p.t.Helper()
	code, out, said := run(p.t, "", append(args, "--url", p.g.BaseURL, "--api-key", p.key)...)
	if code != 0 {
		p.t.Fatalf("recado %s: exit code %d: %s", strings.Join(args, " "), code, said)
	}
	return strings.TrimSpace(out)
}

// wants carries out a command whose output has to contain a text.
func (p *person) wants(want string, args ...string) {
	p.t.Helper()
	if out := p.does(args...); !strings.Contains(out, want) {
		p.t.Errorf("recado %s printed %q, want %q", strings.Join(args, " "), out, want)
	}
}

// The command line can do everything that the API can.
func TestCommandsDoWhatTheAPICan(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	id := p.g.Link(t, shopNumber)
	p.wants("id       "+id, "instances", "show", "shop")
	p.wants(id, "instances", "list", "--json")
	p.list(id)
	p.status(id)
	p.wants("external name  store-17", "instances", "set", "shop", "--external-name", "store-17")
	if out := p.does("instances", "set", "shop", "--external-name", ""); strings.Contains(out, "external") {
		t.Errorf("the external name is still set:\n%s", out)
	}
	p.wants("device kind  edge", "instances", "set", "shop", "--device-name", "Front desk", "--device-kind", "edge")
	p.wants("gap                    1.5s", "instances", "set", "shop", "--gap", "1500ms", "--typing", "--checks-per-day", "500")
	if out := p.does("instances", "set", "shop", "--gap", "0", "--no-typing"); strings.Contains(out, "gap") || strings.Contains(out, "typing") ||
		!strings.Contains(out, "number checks per day  500") {
		t.Errorf("it shows:\n%s", out)
	}
	p.wants("number checks, last day   0 of 500", "instances", "limits", "shop")
	if out := p.does("instances", "set", "shop", "--device-name", "", "--device-kind", "", "--proxy", ""); strings.Contains(out, "device") {
		t.Errorf("the label is still there: %s", out)
	}

	first := p.does("send", "text", "--to", anaNumber, "Oi")
	p.g.Phones.AwaitMessage(t, anaNumber, first)
	p.wants("edited "+first, "messages", "edit", first, "Oi!", "--instance", "shop")
	p.wants("reacted to "+first, "messages", "react", first, "👍")
	p.wants("removed the reaction", "messages", "react", first)
	p.wants("pinned "+first, "messages", "pin", first, "--for", "24h")
	p.wants("unpinned "+first, "messages", "unpin", first)
	p.wants("starred "+first, "messages", "star", first)
	p.wants(first, "messages", "list", anaNumber, "--starred")
	p.wants(anaNumber+"@s.whatsapp.net", "messages", "list", "--starred")
	p.wants("unstarred "+first, "messages", "unstar", first)
	if forwarded := p.does("messages", "forward", first, "--to", "5511977770100"); forwarded == first || forwarded == "" {
		t.Errorf("forwarded as %q", forwarded)
	}
	p.wants("deleted "+first, "messages", "delete", first)
	p.wants("cancelled 0 messages", "queue", "cancel", "--all")
	p.wants(`{"cancelled":0}`, "queue", "cancel", "--all", "--json")
	p.downloads()

	p.wants(anaNumber+"\tyes\t", "numbers", "check", anaNumber)
	p.wants("sees composing", "presence", "composing", "--to", anaNumber)
	p.wants("blocked "+anaNumber, "contacts", "block", anaNumber)
	p.wants("unblocked "+anaNumber, "contacts", "unblock", anaNumber)
	group := p.g.Phones.CreateGroup(t, "Ofertas", anaNumber, shopNumber)
	testkit.Await(t, "the group", func() bool {
		code, out, _ := run(t, "", "groups", "show", group.ID, "--url", p.g.BaseURL, "--api-key", p.key)
		return code == 0 && strings.Contains(out, "Ofertas")
	})
	p.groups()
	p.webhook()

	p.wants("stopped "+id, "instances", "stop", "shop")
	p.wants("manually_stopped", "instances", "show", "shop")
	p.wants("restarted "+id, "instances", "restart", id)
	p.wants("logged out "+id, "instances", "logout", "shop")
	p.wants("deleted "+id, "instances", "delete", "shop")
	if out := p.does("instances", "list"); out != "" {
		t.Errorf("there is still %s", out)
	}
}

// list finds the instance by its status, and by texts.
func (p *person) list(id string) {
	p.t.Helper()
	line := id + "\tshop\tconnected\t" + shopNumber
	for _, args := range [][]string{{}, {"--status", "stopped,connected"}, {"SHO"}, {shopNumber}, {id, "--status", "connected"}} {
		p.wants(line, append([]string{"list"}, args...)...)
	}
	for _, args := range [][]string{{"--status", "stopped"}, {"elsewhere"}, {"shop", "--status", "error,created"}} {
		if out := p.does(append([]string{"list"}, args...)...); out != "" {
			p.t.Errorf("%v: there is %s", args, out)
		}
	}
	if code, _, said := run(p.t, "", "list", "--status", "online", "--url", p.g.BaseURL, "--api-key", p.key); code != 2 || !strings.Contains(said, `"connected"`) {
		p.t.Errorf("exit code %d, said %q", code, said)
	}
}

// status says how the gateway and the instance are, and what to do.
func (p *person) status(id string) {
	p.t.Helper()
	p.wants("gateway    "+p.g.BaseURL+" answers", "status")
	p.wants("instances  1: 1 connected\nwebhooks   none is behind", "status")
	p.wants("instance  shop ("+id+")\nstatus    connected\nchanged   20", "status", "shop")
	p.wants("\nqueue     no message waits to be sent\nwebhook   none; set one: recado webhooks set --instance shop URL", "status", id)
	made, err := p.g.Partner.CreateInstance(p.t.Context(), client.NewInstance{Name: "dois balcões"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.wants("instances  2: 1 connected, 1 created\nto do      dois balcões is created: recado qr "+made.InstanceID+"\n", "status")
	p.wants("\nto do     recado qr "+made.InstanceID, "status", "dois balcões")
	sink := testkit.NewSink(p.t)
	sink.Answer(func(testkit.Delivered) int { return 410 })
	p.does("webhooks", "set", sink.URL, "--instance", "shop")
	p.does("send", "text", "--instance", "shop", "--to", anaNumber, "Oi")
	testkit.Await(p.t, "the suspension", func() bool { return strings.Contains(p.does("status"), "\nwebhooks   1 behind\nbehind     127.0.0.1:") })
	p.wants("the endpoint answered 410 Gone", "status", "shop")
	p.wants("; try again: recado webhooks resume --instance "+id+" --webhook ", "status")
	p.wants(`"behindWebhooks":[{"instanceId":"`+id, "status", "--json")
	p.does("webhooks", "delete", "--instance", "shop")
	p.does("instances", "delete", made.InstanceID)
}

// groups makes a group, changes it and leaves it; and a community.
func (p *person) groups() {
	p.t.Helper()
	team := strings.TrimPrefix(strings.SplitN(p.does("groups", "create", "Equipe", anaNumber, "5511988880000"), "\n", 2)[0], "created ")
	p.wants(team+"\tEquipe\t2\tsuperadmin", "groups", "list", "--subject", "equi")
	p.wants("changed "+team, "groups", "set", team, "--subject", "Turma", "--info", "admins", "--approval", "on")
	p.wants("Turma", "groups", "show", team)
	p.wants("ALREADY_PARTICIPANT", "groups", "add", team, anaNumber)
	p.wants("done", "groups", "promote", team, anaNumber)
	p.wants("done", "groups", "demote", team, anaNumber)
	p.wants("done", "groups", "remove", team, anaNumber)
	link := p.does("groups", "invite", team)
	p.wants("approval  yes", "groups", "look", link)
	p.wants("joined "+team, "groups", "join", link)
	if p.g.Phones.Join(p.t, anaNumber, strings.TrimPrefix(link, "https://chat.whatsapp.com/")) {
		p.t.Error("a phone is in the group without approval")
	}
	p.wants(anaNumber, "groups", "requests", team)
	p.wants("done", "groups", "requests", team, "--approve", anaNumber)
	if renewed := p.does("groups", "invite", team, "--reset"); renewed == link {
		p.t.Error("the link is still the same")
	}
	community := strings.TrimPrefix(p.does("communities", "create", "Lojas"), "created ")
	p.wants(community, "communities", "list")
	p.wants("linked "+team, "communities", "link", community, team)
	p.wants("Turma", "communities", "groups", community)
	p.wants("unlinked "+team, "communities", "unlink", community, team)
	p.wants("left "+team, "groups", "leave", team)
}

// downloads saves a file that the phone has sent, and does not overwrite one.
func (p *person) downloads() {
	p.t.Helper()
	received := p.g.Phones.Send(p.t, anaNumber, map[string]any{
		"to": shopNumber, "type": "document", "media": client.DataURI("text/plain", []byte("content")), "fileName": "a.txt",
	})
	testkit.Await(p.t, "the document", func() bool {
		code, out, _ := run(p.t, "", "messages", "download", received, "-o", "-", "--url", p.g.BaseURL, "--api-key", p.key)
		return code == 0 && out == "content"
	})
	p.wants("read "+received, "messages", "read", received)
	path := filepath.Join(p.t.TempDir(), "b.txt")
	p.wants(path, "messages", "download", received, "--output", path)
	if content, err := os.ReadFile(path); err != nil || string(content) != "content" {
		p.t.Errorf("saved %q (%v)", content, err)
	}
	code, _, said := run(p.t, "", "messages", "download", received, "--output", path, "--url", p.g.BaseURL, "--api-key", p.key)
	if code != 1 || said != "recado: "+path+" already exists; choose another with --output\n" {
		p.t.Errorf("exit code %d, said %q", code, said)
	}
}

func (p *person) webhook() {
	p.t.Helper()
	sink := testkit.NewSink(p.t)
	p.wants("active   yes", "webhooks", "set", sink.URL, "--secret", "segredo")
	p.wants(sink.URL, "webhooks", "get")
	p.wants("\ndelivery  flowing", "webhooks", "get")
	p.wants(`"delivery":{"state":"flowing"`, "webhooks", "get", "--json")
	p.wants("status  204", "webhooks", "test")
	p.wants("resumed", "webhooks", "resume")
	p.wants("are delivered again", "webhooks", "replay", "--from", "1")
	sink.AwaitType(client.TypeMessageSent, nil)
	testkit.Await(p.t, "all deliveries", func() bool {
		shown := p.does("webhooks", "deliveries")
		return strings.HasPrefix(shown, "delivery  flowing\n") && strings.Contains(shown, "delivered\t")
	})
	p.wants("delivery  flowing\n", "webhooks", "deliveries")
	p.wants(`"state":"delivered"`, "webhooks", "deliveries", "--json")
	p.wants("deleted the webhook", "webhooks", "delete")
	p.wants("events   message.received", "account-webhooks", "add", sink.URL, "--events", "message.received")
	var ofAccount []client.AccountWebhook
	if err := json.Unmarshal([]byte(p.does("account-webhooks", "list", "--json")), &ofAccount); err != nil || len(ofAccount) != 1 {
		p.t.Fatalf("the account has %+v (%v)", ofAccount, err)
	}
	p.wants("active   no", "account-webhooks", "set", ofAccount[0].ID, "--inactive")
	p.wants("deleted the webhook", "account-webhooks", "delete", ofAccount[0].ID)
	p.wants("set    yes", "app-secret", "set", "--app-secret", "segredo do app")
	p.wants("since  ", "app-secret", "get")
	p.wants("removed", "app-secret", "delete")
	p.wants("set    no", "app-secret", "get")
	p.wants("headers  X-Shop", "webhooks", "add", sink.URL, "--events", "message.received,message.sent", "--chats", "direct", "--header", "X-Shop: a: b")
	var listed []client.Webhook
	if err := json.Unmarshal([]byte(p.does("webhooks", "list", "--json")), &listed); err != nil || len(listed) != 1 || len(listed[0].Events) != 2 {
		p.t.Fatalf("listed are %+v (%v)", listed, err)
	}
	one := listed[0].ID
	p.wants("message.received, message.sent", "webhooks", "list")
	p.wants("events   all", "webhooks", "set", "--webhook", one, "--events", "all")
	p.wants("delivery  flowing", "webhooks", "get", "--webhook", one)
	p.wants("status  204", "webhooks", "test", "--webhook", one)
	p.wants("resumed", "webhooks", "resume", "--webhook", one)
	p.wants("are delivered again", "webhooks", "replay", "--from", "1", "--webhook", one)
	p.wants("delivery  ", "webhooks", "deliveries", "--webhook", one)
	p.wants("chats    group", "webhooks", "set", sink.URL, "--chats", "group")
	p.wants("events   presence", "webhooks", "set", "--events", "presence")
	p.wants("deleted the webhook", "webhooks", "remove", "--webhook", one)
	p.wants("deleted the webhook", "webhooks", "remove")
	sink.Answer(func(testkit.Delivered) int { return 500 })
	p.does("webhooks", "set", sink.URL)
	if code, out, said := run(p.t, "", "webhooks", "test", "--url", p.g.BaseURL, "--api-key", p.key); code != 1 || strings.Contains(out, "error") || strings.Count(said, "did not accept") != 1 {
		p.t.Errorf("exit code %d, said %q", code, said)
	}
}

// Events are printed as they happen, from any position, until Ctrl-C; and no text of a
// message can move the cursor of the terminal.
func TestEventsAreFollowed(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.g.Link(t, shopNumber)
	p.g.Phones.SendText(t, anaNumber, shopNumber, "um\x1b[2Jdois\ntrês")
	for _, format := range []string{"--json", "--json=false"} {
		ctx, interrupt := context.WithCancel(t.Context())
		output, printed := io.Pipe()
		ended := make(chan int, 1)
		go func() {
			ended <- cli.Run(ctx, []string{
				"logs", "shop", "--after", "0", "--types", "message.received", format, "--url", p.g.BaseURL, "--api-key", p.key,
			}, strings.NewReader(""), printed, io.Discard)
		}()
		line, err := bufio.NewReader(output).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var event client.Event
		if format == "--json" && (json.Unmarshal([]byte(line), &event) != nil || event.Type != client.TypeMessageReceived) {
			t.Errorf("printed %q", line)
		}
		if format != "--json" && (!strings.Contains(line, "message.received") || !strings.HasSuffix(line, "text  um[2Jdois três\n")) {
			t.Errorf("printed %q", line)
		}
		interrupt()
		if code := <-ended; code != 130 {
			t.Errorf("exit code %d", code)
		}
	}
}
