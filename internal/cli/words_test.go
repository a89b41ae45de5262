package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/data"
	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The address that serve prints can be opened.
func TestClickable(t *testing.T) {
	t.Parallel()
	for listen, test := range cases.Sorted(map[string][2]string{
		"127.0.0.1:80":     {"http://127.0.0.1:80", "http://127.0.0.1:80"},
		"0.0.0.0:18099":    {"http://[::]:18099", "http://127.0.0.1:18099"},
		":0":               {"http://[::]:4711", "http://127.0.0.1:4711"},
		"[::]:80":          {"http://[::]:80", "http://[::1]:80"},
		"192.0.2.1:80":     {"http://192.0.2.1:80", "http://192.0.2.1:80"},
		"gateway.local:80": {"http://192.0.2.1:80", "http://192.0.2.1:80"},
	}) {
		if got := clickable(listen, test[0]); got != test[1] {
			t.Errorf("%s: %s, want %s", listen, got, test[1])
		}
	}
}

// The first output of serve names that address, and the steps to a linked instance.
func TestServeAnnounces(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	command := serveCommand{serveFlags: serveFlags{Listen: "0.0.0.0:18099", Flags: data.Flags{Location: data.Location{Data: "/data"}}}}
	if err := command.announce(terminal.Terminal{Out: &out}, "http://[::]:18099", "/welcome?token=x"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"answers at http://127.0.0.1:18099, on every address of this machine (0.0.0.0:18099)", "data in /data",
		"this link sets the owner's password, once, within a day:\n  http://127.0.0.1:18099/welcome?token=x\n",
		"export RECADO_URL=http://127.0.0.1:18099\n", "--partner --data /data)", "recado instances create", "recado qr shop",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it says %s, want %s", out.String(), want)
		}
	}
}

// The command for a link finds the data from any folder, and shows no secrets.
func TestLinkCommand(t *testing.T) {
	t.Parallel()
	const here = "http://127.0.0.1:8080"
	at := func(location data.Location) data.Flags { return data.Flags{Location: location} }
	sealed := at(data.Location{Data: "/srv/recado data"})
	sealed.MasterKeyFile, sealed.MasterKey = "/etc/key", "secret"
	for _, test := range []struct {
		flags   data.Flags
		name    string
		address string
		whole   bool
		want    string
	}{
		{at(data.Location{Data: "/data"}), "owner", here, true, "recado users link owner --data /data"},
		{at(data.Location{Data: "/data"}), "owner", here, false, "recado users link owner --data …"},
		{at(data.Location{Data: "/data"}), "a b", "http://127.0.0.1:9090", true, "recado users link 'a b' --data /data --public-url http://127.0.0.1:9090"},
		{at(data.Location{Data: "/data", DatabaseURL: "postgres://u:secret@h/d"}), "owner", here, true, "recado users link owner --database-url …"},
		{at(data.Location{Data: "/data", DatabaseURL: "postgres://u:secret@h/d", Settings: "/etc/r.yaml"}), "owner", here, true, "recado users link owner --settings /etc/r.yaml"},
		{sealed, "owner", here, true, "recado users link owner --data '/srv/recado data' --master-key-file /etc/key"},
		{sealed, "owner", here, false, "recado users link owner --data … --master-key-file …"},
	} {
		if got := test.flags.LinkCommand(test.name, test.address, test.whole); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

// A code is shown with the time until which it is valid.
func TestExpiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 11, 8, 1, 0, time.Local) //nolint:gosmopolitan // it is shown in the zone of the person
	l := &linking{t: terminal.Terminal{Now: func() time.Time { return now }}}
	if got := l.expiry(now.Add(time.Minute).UnixMilli()); got != "valid until 11:09:01 (60 s)" {
		t.Errorf("it says %s", got)
	}
}

// The file of somebody else is saved in the current folder, whatever its name.
func TestLocalName(t *testing.T) {
	t.Parallel()
	for name, want := range cases.Sorted(map[string]string{
		"a.pdf": "a.pdf", "../../etc/passwd": "passwd", "/": "file", "": "file", "..": "file", "a/b": "b", "a\x1b[2J.pdf": "a[2J.pdf",
	}) {
		if got := localName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A code is shown whole or not at all.
func TestCodeNeedsItsRoom(t *testing.T) {
	t.Parallel()
	lines := qrLines(strings.Repeat("a", 200))
	for _, test := range []struct {
		columns, rows int
		fits          bool
	}{{0, 0, true}, {200, 100, true}, {200, 24, false}, {40, 100, false}} {
		var said bytes.Buffer
		l := &linking{t: terminal.Terminal{Err: &said, Size: func() (int, int) { return test.columns, test.rows }}}
		for range 2 {
			if l.fits(lines) != test.fits {
				t.Errorf("%+v: %t", test, !test.fits)
			}
		}
		if strings.Count(said.String(), "--phone") != map[bool]int{false: 1}[test.fits] {
			t.Errorf("%+v: said %q", test, said.String())
		}
	}
}

// What somebody sees first fits on a screen, and has the commands that people need first.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	var out, said bytes.Buffer
	if code := Run(t.Context(), nil, strings.NewReader(""), &out, &said); code != 0 || said.Len() > 0 {
		t.Fatalf("exit code %d, said %s", code, said.String())
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) > 40 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("longer than 80 columns: %s", line)
		}
	}
	rest := out.String()
	for _, want := range []string{
		"Run the gateway:\n", "  dev ", "  serve ", "look at them:\n", "  list ", "  qr ", "  status ", "  logs ", "Send and read:\n", "  send ",
		"your programs:\n", "  webhooks ", "  keys ", "  doctor ", "recado help all ", "recado help <command> ",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("there is no %q in its place:\n%s", want, out.String())
			continue
		}
		rest = after
	}
	if strings.Contains(out.String(), "communities") {
		t.Errorf("it has commands that can wait:\n%s", out.String())
	}
}

// A command is read without learning all others, but for serve, whose flags are the settings, by each of its names.
func TestFewCommands(t *testing.T) {
	t.Parallel()
	whole, err := newParser(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range whole.Model.Children {
		for _, name := range append(command.Aliases, command.Name) {
			grammar, fewer := fewCommands([]string{name, "--json"})
			switch {
			case command.Name == "help":
				if fewer {
					t.Error("help knows few commands")
				}
				continue
			case !fewer:
				t.Errorf("%s is read with all commands", name)
				continue
			}
			few, err := newParser(grammar.Interface())
			if err != nil {
				t.Fatal(err)
			}
			for _, kept := range few.Model.Children {
				if kept.Name != command.Name && kept.Name != "serve" {
					t.Errorf("%s is read with %s", name, kept.Name)
				}
			}
			if !slices.ContainsFunc(few.Model.Children, func(kept *kong.Node) bool {
				return kept.Name == command.Name && len(kept.Leaves(false)) == len(command.Leaves(false))
			}) {
				t.Errorf("%s is read without itself", name)
			}
		}
	}
	for _, args := range [][]string{nil, {"--json", "list"}, {"lst"}, {"list", "--help"}, {"send", "-h"}, {"help", "list"}} {
		if _, fewer := fewCommands(args); fewer {
			t.Errorf("%q is read with few commands", args)
		}
	}
}

// The list of all commands has each of them under its subject.
func TestHelpAll(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code := Run(t.Context(), []string{"help", "all"}, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	parser, err := newParser(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		if !strings.Contains(out.String(), "\n  "+leaf.Path()) {
			t.Errorf("there is no %s", leaf.Path())
		}
	}
	for _, command := range parser.Model.Children {
		switch {
		case command.Group == nil:
			t.Errorf("%s has no subject", command.Name)
		case command.Group.Title == command.Group.Key:
			t.Errorf("the subject %s of %s has no title", command.Group.Key, command.Name)
		case strings.Count(out.String(), "\n"+command.Group.Title+"\n") != 1:
			t.Errorf("%q is not a heading, once", command.Group.Title)
		}
	}
	if strings.Contains(out.String(), "\nCommands:\n") {
		t.Error("some commands have no subject")
	}
}

// What is to be done about an instance is a command that works when it is pasted.
func TestNextStep(t *testing.T) {
	t.Parallel()
	const id = "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"
	for _, test := range []struct {
		name, status, number, want string
	}{
		{"shop", client.StatusConnected, "5511999990200", ""},
		{"shop", client.StatusConnecting, "5511999990200", ""},
		{"shop", client.StatusCreated, "", "recado qr shop"},
		{"dois balcões", client.StatusQRTimeout, "", "recado qr " + id},
		{"-x", client.StatusPendingQRCodeScan, "", "recado qr " + id},
		{"shop", client.StatusStopped, "", "recado qr shop"},
		{"shop", client.StatusStopped, "5511999990200", "recado instances restart shop"},
		{"$(reboot)", client.StatusError, "5511999990200", "recado instances restart " + id},
		{"shop", client.StatusPaymentPending, "5511999990200", ""},
	} {
		if got := nextStep(client.Instance{InstanceID: id, Name: test.name, Status: test.status, MessengerID: test.number}); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
