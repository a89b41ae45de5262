// Package testkit is what end-to-end tests share: it starts the whole program
// on a free port, links instances as a person would, and looks at the phones.
// Only tests import it.
package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/channel"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/contract"
	"github.com/recado-project/recado/internal/testkit/loglines"
	"github.com/recado-project/recado/internal/testkit/phones"
	_ "github.com/recado-project/recado/internal/testkit/process" // it forgets the settings of whoever runs the tests
	"github.com/recado-project/recado/internal/testkit/sink"
	"github.com/recado-project/recado/internal/whatsapp"
)

// What tests hold in their hands of the sandbox.
type (
	// ContactCard is a card in a message.
	ContactCard = content.Contact
	// Phones calls the control API.
	Phones = phones.API
	// PhoneMessage is a message as a phone shows it.
	PhoneMessage = content.Shown
	// ChannelPost is a post as people see it.
	ChannelPost = channel.Post
)

// What tests see of webhooks.
type (
	// Sink is an endpoint.
	Sink = sink.Sink
	// Delivered is one request to it.
	Delivered = sink.Delivered
)

// NewPhones makes the caller of the sandbox at baseURL.
func NewPhones(baseURL string) *Phones { return phones.New(baseURL) }

// NewSink starts an endpoint that accepts every delivery, and stops it when the test ends.
func NewSink(tb testing.TB) *Sink {
	tb.Helper()
	return sink.New(tb)
}

// Options change what Start starts. The zero value is a gateway with a sandbox
// on SQLite.
type Options struct {
	DataDir     string // empty: a temporary folder
	DatabaseURL string // PostgreSQL instead of SQLite
	MasterKey   *seal.Key
	Platform    whatsapp.Config
	Media       media.Config // private addresses are always allowed
	Blobs       media.BlobsConfig
	MediaURL    string           // where files are kept; empty: in DataDir
	MediaIsNew  bool             // this place is another one than before
	Cluster     server.Cluster   // of several nodes; its zero value is that there is one process
	ReadDelay   time.Duration    // of the sandbox's phones; 0: at once
	Log         io.Writer        // gets a copy of the program's log, with the finest lines; may be nil
	Now         func() time.Time // of the program, not of the sandbox; nil: the wall clock
	// Elapsed grows evenly. Without it, whatever Now says has gone by; with it, a Now that moves is a clock
	// that was set.
	Elapsed func() time.Duration

	EditWindow, DeleteWindow time.Duration // 0: the platform's
	KeepMessages             time.Duration // 0: without end

	// PasskeyName is the name that the accounts' passkeys are for; "": localhost.
	PasskeyName string

	// Admin starts the listener for those who run the program too; DrainWait is for how
	// long it answers after it was told to stop.
	Admin     bool
	DrainWait time.Duration
	// DatabasePatience is for how long the database may fail before the program says that it is not ready;
	// 0: ten seconds.
	DatabasePatience time.Duration
	// LogoutWait is how long a logout may wait for the platform; 0: as long as the program lets it.
	LogoutWait time.Duration
	// LastAnswer is how long the platform may take to acknowledge a message once the program was told to
	// stop; 0: as long as the program lets it.
	LastAnswer time.Duration
	// OTLPEndpoint is a collector that traces are sent to; empty: there are none.
	OTLPEndpoint string

	// Problems are words of what may be wrong with messages that the test sends. Anything else that a
	// phone finds fails it.
	Problems []string

	// Limits bound the requests of clients; the zero value means the usual ones.
	Limits api.Limits

	// RefusePrivateURLs keeps webhooks and proxies from private addresses.
	RefusePrivateURLs bool
}

// Gateway is the running program and the ways to it.
type Gateway struct {
	BaseURL string
	Client  *client.Client // with an ordinary key for every instance
	Partner *client.Client // with a partner key
	Phones  *Phones        // the sandbox's control API
	Server  *server.Server

	stop func()
}

// Start starts the program in this process and stops it when the test ends.
func Start(tb testing.TB, options Options) *Gateway {
	tb.Helper()
	if options.canBeCopied() {
		options.DataDir = empty.copied(tb, func(*Gateway) string { return "" })
	}
	return start(tb, options)
}

// StartError is the error with which a program does not start. One that starts is stopped again.
func StartError(tb testing.TB, options Options) error {
	tb.Helper()
	ctx, stop := context.WithCancel(tb.Context())
	defer stop()
	s, err := server.New(ctx, options.config(tb))
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	await.Until(tb, "the program to serve or to end", func() bool {
		if len(ended) > 0 {
			return true
		}
		response, err := http.Get(s.BaseURL() + "/readyz") //nolint:noctx // it ends with the program
		if err == nil {
			err = response.Body.Close()
		}
		return err == nil && response.StatusCode == http.StatusOK
	})
	stop()
	return <-ended
}

func start(tb testing.TB, options Options) *Gateway {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := server.New(ctx, options.config(tb))
	if err != nil {
		cancel()
		tb.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	seen := phones.New(s.BaseURL())
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Errorf("the program ended with %v", err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	judged := false
	judge := func() {
		if tb.Failed() || judged {
			return
		}
		judged = true
		for _, message := range seen.Problems(tb, options.Problems...) {
			tb.Errorf("on the phone %s, message %s: %s", message.Number, message.MessageID, strings.Join(message.Problems, "; "))
		}
	}
	tb.Cleanup(func() {
		judge()
		stop()
	})
	ordinary, partner := keys(tb, s)
	// Every answer is checked against the document, whatever the test asks for.
	checked := &http.Client{Transport: contract.Served(tb, s.BaseURL(), http.DefaultTransport)}
	return &Gateway{
		BaseURL: s.BaseURL(),
		Client:  client.New(s.BaseURL(), ordinary).WithHTTPClient(checked),
		Partner: client.New(s.BaseURL(), partner).WithHTTPClient(checked),
		Phones:  seen,
		Server:  s,
		stop:    func() { judge(); stop() },
	}
}

// memoryLimit is what the program says that it may take: it is one of many in the process of a test.
const memoryLimit = 64 << 30

// config is the configuration of a program that is fast enough for tests.
func (o Options) config(tb testing.TB) server.Config {
	tb.Helper()
	if o.DataDir == "" {
		o.DataDir = tb.TempDir()
	}
	if o.ReadDelay == 0 {
		o.ReadDelay = time.Millisecond
	}
	if o.Platform.ReconnectMin == 0 {
		o.Platform.ReconnectMin = time.Millisecond
		o.Platform.ReconnectMax = 100 * time.Millisecond
	}
	o.Media.AllowPrivate = true
	logger := Logger(tb)
	if o.Log != nil {
		logger = newLogger(io.MultiWriter(lines{tb}, o.Log), slog.LevelDebug)
	}
	admin := ""
	if o.Admin {
		admin = "127.0.0.1:0"
	}
	files, err := filestore.Parse(o.MediaURL)
	if err != nil {
		tb.Fatal(err)
	}
	return server.Config{
		AdminListen: admin, DrainWait: o.DrainWait, DatabasePatience: o.DatabasePatience, LogoutWait: o.LogoutWait, LastAnswer: o.LastAnswer, Traces: o.OTLPEndpoint != "", OTLPEndpoint: o.OTLPEndpoint,
		Listen: "127.0.0.1:0", DataDir: o.DataDir, DatabaseURL: o.DatabaseURL, MasterKey: o.MasterKey,
		MemoryLimit: memoryLimit, Dialects: server.Dialects(),
		Platform: o.Platform, Version: "test", Logger: loglines.Checked(tb, logger),
		Limits: o.Limits, Media: o.Media, Blobs: o.Blobs, MediaLocation: files, MediaLocationIsNew: o.MediaIsNew, Cluster: o.Cluster, AllowPrivateURLs: !o.RefusePrivateURLs,
		EditWindow: o.EditWindow, DeleteWindow: o.DeleteWindow, KeepMessages: o.KeepMessages, Now: o.Now, Elapsed: o.Elapsed,
		Sandbox: &sandbox.Config{Seed: seed(), ReadDelay: o.ReadDelay, Logger: Logger(tb), PasskeyName: o.PasskeyName},
	}
}

// Tune prepares a test binary that holds the whole program; its TestMain calls it first. Garbage may
// grow to four times what is in use before it is collected: what a program under test holds is small,
// and collecting it takes a seventh of the CPU otherwise. More tests run at once than there are
// processors, since most of the time they wait, unless the flag -parallel says how many.
func Tune() {
	debug.SetGCPercent(400)
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // the testing package has no such flag any more
	}
}

// Stop stops the program before the test's end.
func (g *Gateway) Stop() { g.stop() }

// seed is the same for all sandboxes of a test binary, because whatsmeow trusts one root
// key per process.
func seed() *[32]byte { return &[32]byte{'r', 'e', 'c', 'a', 'd', 'o'} }

func keys(tb testing.TB, s *server.Server) (ordinary, partner string) {
	tb.Helper()
	ctx := tb.Context()
	account, err := s.Access().EnsureAccount(ctx, "test")
	if err != nil {
		tb.Fatal(err)
	}
	for _, key := range []struct {
		secret  *string
		partner bool
	}{{&ordinary, false}, {&partner, true}} {
		_, secret, err := s.Access().CreateKey(ctx, access.KeyParams{AccountID: account.ID, Name: "test", Partner: key.partner})
		if err != nil {
			tb.Fatal(err)
		}
		*key.secret = secret
	}
	return ordinary, partner
}

// Link creates an instance and links it to the phone of that number. It returns
// once the instance is connected.
func (g *Gateway) Link(tb testing.TB, number string) (instanceID string) {
	tb.Helper()
	instance, err := g.Partner.CreateInstance(tb.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		tb.Fatal(err)
	}
	g.Scan(tb, instance.InstanceID, number)
	return instance.InstanceID
}

// Scan links an instance by its QR code and waits until it is connected.
func (g *Gateway) Scan(tb testing.TB, instanceID, number string) {
	tb.Helper()
	code, err := g.Client.GetQRCode(tb.Context(), instanceID, client.GetQRCodeParams{})
	if err != nil {
		tb.Fatal(err)
	}
	g.Phones.Scan(tb, number, code.QRCode)
	g.AwaitStatus(tb, instanceID, gateway.StatusConnected)
}

// AnswerPasskey waits until the platform asks an instance for a passkey, and answers with
// the own passkey of the phone of that number.
func (g *Gateway) AnswerPasskey(tb testing.TB, instanceID, number string) {
	tb.Helper()
	asked := g.AwaitPasskey(tb, instanceID, gateway.PasskeyRequested)
	if err := g.Client.AnswerPasskey(tb.Context(), instanceID, Signed(tb, g.Phones.AnswerPasskey(tb, number, asked.Request, ""))); err != nil {
		tb.Fatal(err)
	}
}

// Prefer is what a request prefers that leaves a message in the queue, if later is true.
func Prefer(later bool) string {
	if later {
		return client.RespondAsync
	}
	return ""
}

// Signed reads the answer to the question for a passkey, as a browser gives it.
func Signed(tb testing.TB, assertion json.RawMessage) (answer client.PasskeyAnswer) {
	tb.Helper()
	if err := json.Unmarshal(assertion, &answer); err != nil {
		tb.Fatal(err)
	}
	return answer
}

// AwaitPasskey waits until the question for a passkey is in that state.
func (g *Gateway) AwaitPasskey(tb testing.TB, instanceID string, state gateway.PasskeyState) client.Passkey {
	tb.Helper()
	var question client.Passkey
	Await(tb, "passkey "+string(state), func() bool {
		var err error
		if question, err = g.Client.GetPasskey(tb.Context(), instanceID); err != nil {
			tb.Fatal(err)
		}
		return question.State == string(state)
	})
	return question
}

// Instance returns one instance.
func (g *Gateway) Instance(tb testing.TB, instanceID string) client.Instance {
	tb.Helper()
	instance, err := g.Client.GetInstance(tb.Context(), instanceID)
	if err != nil {
		tb.Fatal(err)
	}
	return instance
}

// AwaitStatus waits until the instance has that status.
func (g *Gateway) AwaitStatus(tb testing.TB, instanceID string, status gateway.Status) client.Instance {
	tb.Helper()
	var instance client.Instance
	Await(tb, "status "+string(status), func() bool {
		instance = g.Instance(tb, instanceID)
		return instance.Status == string(status)
	})
	return instance
}

// Await waits until condition holds, and fails the test where it never does.
func Await(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	await.Until(tb, what, condition)
}

// Refused fails the test unless err is the gateway's refusal with that status
// and code.
func Refused(tb testing.TB, err error, status int, code string) {
	tb.Helper()
	refusal, ok := errors.AsType[*client.Error](err)
	if !ok {
		tb.Fatalf("answered %v, want %d %s", err, status, code)
	}
	if refusal.StatusCode != status || refusal.Code != code {
		tb.Errorf("answered %d %s (%s), want %d %s", refusal.StatusCode, refusal.Code, refusal.Message, status, code)
	}
}

// Logger returns a logger whose lines appear with a failing test.
func Logger(tb testing.TB) *slog.Logger {
	tb.Helper()
	return newLogger(lines{tb}, slog.LevelInfo)
}

func newLogger(to io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: level}))
}

// lines writes to a test's log. Its output is dropped after the test's end,
// which panics otherwise.
type lines struct{ tb testing.TB }

func (l lines) Write(line []byte) (int, error) {
	if l.tb.Context().Err() == nil {
		l.tb.Log(strings.TrimRight(string(line), "\n"))
	}
	return len(line), nil
}
