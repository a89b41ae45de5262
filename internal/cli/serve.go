package cli

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/recado-project/recado/internal/cli/data"
	"github.com/recado-project/recado/internal/cli/repeatlog"
	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/doctor"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/whatsapp"
)

// platformFlags name the platform that sessions connect to.
type platformFlags struct {
	URL     string `help:"Websocket of another platform instead of the messenger's own: a sandbox, ws://host:port." name:"url"`
	Key     string `help:"Root key of that platform, 64 hexadecimal digits (see GET /sandbox/api/trust)." name:"key"`
	Version string `help:"Version of the messenger's web client to present, for example 2.3000.1234567. Without it the newest one is looked up, once a day and when the platform refuses the one in use." name:"version"`
	Compare bool   `help:"Link with a passkey only after somebody has confirmed the code, also where the platform needs no comparison." name:"compare-passkeys"`
}

func (f platformFlags) config() (whatsapp.Config, error) {
	config := whatsapp.Config{PlatformURL: f.URL, ComparePasskeys: f.Compare}
	if (f.URL == "") != (f.Key == "") {
		return config, errors.New("--platform-url and --platform-key are needed together")
	}
	if f.Key != "" {
		key, err := hex.DecodeString(f.Key)
		if err != nil || len(key) != 32 {
			return config, errors.New("--platform-key must have 64 hexadecimal digits")
		}
		config.RootKey = (*[32]byte)(key)
	}
	if f.Version != "" {
		version, err := whatsapp.ParseVersion(f.Version)
		if err != nil {
			return config, fmt.Errorf("--platform-version %w", err)
		}
		config.ClientVersion = &version
	}
	return config, nil
}

// serveCommand runs the gateway.
type serveCommand struct {
	Check bool `help:"Only say whether the settings are right, as the gateway would find them, and stop." env:"-"`
	serveFlags
}

// serveFlags are the settings of the gateway.
type serveFlags struct {
	data.Flags
	Listen           string        `help:"Address of the API." default:"127.0.0.1:8080"`
	AdminListen      string        `help:"Address for those who run the gateway: /metrics, /healthz, /readyz and /debug/pprof/. It asks for no password: keep it inside. Without it there is none." placeholder:"HOST:PORT"`
	OTLPEndpoint     string        `help:"Collector that traces are sent to, by OTLP over HTTP: http://host:4318. The variables OTEL_EXPORTER_OTLP_… work too, and say how. Without an address there are no traces." name:"otlp-endpoint" placeholder:"URL"`
	DrainWait        time.Duration `help:"For how long requests are still answered after the gateway was told to stop, while /readyz says that it is not ready, so that a balancer sends nothing new." default:"0s"`
	BehindProxy      bool          `help:"A proxy in front provides TLS: no warning about listening beyond loopback, and its X-Forwarded-Proto is trusted."`
	PublicURL        string        `help:"Address where clients reach the gateway, for example https://messages.example.org; links in answers begin with it. Set it if there is a proxy in front: without it, links begin with the Host of the request." name:"public-url"`
	AllowPrivateURLs bool          `help:"Also fetch media from private and loopback addresses, deliver webhooks to them, and let instances have proxies there." name:"allow-private-urls"`
	DenyFetch        []string      `help:"Public addresses or prefixes (203.0.113.0/24, …) that are treated like private ones: no media is fetched from them and no webhook delivered to them." name:"deny-fetch" placeholder:"CIDR,..."`
	Dialects         []string      `help:"Languages of other tools that are spoken beside the API, each below its name: evolution (the Evolution API, version 2), cloud (Meta's Cloud API). none: no language but our own." default:"evolution,cloud"`
	MaxMedia         int64         `help:"Largest file to send, in bytes." default:"67108864"`
	MaxDownload      int64         `help:"Largest file of a message to fetch, in bytes." default:"104857600" name:"max-download"`
	MediaURL         string        `help:"Where files are kept instead of in the data folder. file:///path: a folder that several gateways share. s3://bucket/prefix?endpoint=https://…&region=…&path-style=true: a bucket; see docs/files.md." name:"media-url"`
	MediaURLIsNew    bool          `help:"The place of files is another one than before: it gets the name of its owner. For one start; without it, a place without that name is refused, because it is more likely a file system that is not mounted." name:"media-url-is-new"`
	MediaQuota       int64         `help:"Bytes of fetched files that are kept in total; the oldest make room for new ones and are fetched again when needed. 0: any number." default:"21474836480" name:"media-quota"`
	InstanceQuota    int64         `help:"The same for the files of one instance." default:"5368709120" name:"media-quota-per-instance"`
	UploadQuota      int64         `help:"Bytes that the uploads of one account have together at most. 0: any number." default:"5368709120" name:"upload-quota"`
	KeepMedia        time.Duration `help:"How long fetched files are kept; 0: for ever." default:"720h" name:"keep-media"`
	EditWindow       time.Duration `help:"How long a text can be edited after sending." default:"15m" reload:""`
	DeleteWindow     time.Duration `help:"How long a message can be deleted for everyone after sending." default:"1h" reload:""`
	LinkLifetime     time.Duration `help:"How long a download link works." default:"1h" reload:""`
	KeepMessages     time.Duration `help:"How long messages and their files are kept; at least 25h. 0: for ever." default:"0" reload:""`
	MaxMessages      int           `help:"How many messages of each instance are kept: the newest. 0: all." default:"0" reload:""`
	KeepDelivered    time.Duration `help:"How long events are kept that were delivered or that no webhook waits for." default:"72h" reload:""`
	KeepUndelivered  time.Duration `help:"How long events are kept that a webhook waits for." default:"168h" reload:""`
	HistoryPerChat   int           `help:"How many messages of each chat are copied from the phone when an instance is linked; 0: none." default:"50" name:"history-per-chat"`
	LogRepeats       int           `help:"How many lines of the log with the same level, text and instance are written within ten seconds; one line says how many more there were. 0: all." default:"100" reload:""`
	Platform         platformFlags `embed:"" prefix:"platform-"`
	clusterFlags
	limitFlags
}

// clusterFlags make the process one of several that share a PostgreSQL database.
type clusterFlags struct {
	Advertise     string `help:"Address where the other processes on the same PostgreSQL database reach this one, for example http://10.0.0.7:8080. It makes this process a node: they share the instances, and any of them takes any request. Without it, the process has the database to itself."`
	ClusterSecret string `help:"What the nodes recognise each other by: the same 16 or more characters for all of them." secret:""`
	OtherSecret   string `help:"Another secret by which this node recognises the others as well: for as long as the secret is changed on one node after the other." name:"other-cluster-secret" secret:""`
	// Lease is for tests, which have less patience; it is in no document.
	Lease time.Duration `help:"For how long a node is believed after it has renewed its lease; the same for all of them." hidden:"" env:"-"`
}

// minLease is what a renewal needs to be in time on a busy machine.
const minLease = time.Second

// minClusterSecret is how many characters the secret must have.
const minClusterSecret = 16

func (f clusterFlags) cluster(databaseURL string) (server.Cluster, error) {
	switch {
	case f.Advertise == "" && f.ClusterSecret == "" && f.OtherSecret == "":
		return server.Cluster{}, nil
	case f.Advertise == "":
		return server.Cluster{}, errors.New("--cluster-secret is for nodes, which need --advertise too")
	case !terminal.IsWebAddress(f.Advertise):
		return server.Cluster{}, terminal.WrongUsage("--advertise %q needs http:// or https:// and a host", f.Advertise)
	case databaseURL == "":
		return server.Cluster{}, errors.New("--advertise needs --database-url: nodes share a PostgreSQL database")
	case len(f.ClusterSecret) < minClusterSecret:
		return server.Cluster{}, fmt.Errorf("--advertise needs --cluster-secret with %d characters or more, the same for all nodes", minClusterSecret)
	case f.OtherSecret != "" && len(f.OtherSecret) < minClusterSecret:
		return server.Cluster{}, fmt.Errorf("--other-cluster-secret must have %d characters or more", minClusterSecret)
	case f.Lease != 0 && f.Lease < minLease:
		return server.Cluster{}, fmt.Errorf("--lease must not be less than %s", minLease)
	}
	cluster := server.Cluster{Advertise: strings.TrimRight(f.Advertise, "/"), Secret: f.ClusterSecret, OtherSecret: f.OtherSecret}
	cluster.Timing.Lease = f.Lease
	return cluster, nil
}

// config checks the settings, and makes the configuration of the program from them. The master
// key and the logger are missing. Its error names every setting that is wrong; what is right is
// in the configuration all the same.
func (c serveFlags) config() (server.Config, error) {
	var mistakes []error
	for _, address := range []struct{ flag, value string }{{"--public-url", c.PublicURL}, {"--otlp-endpoint", c.OTLPEndpoint}} {
		if address.value != "" && !terminal.IsWebAddress(address.value) {
			mistakes = append(mistakes, terminal.WrongUsage("%s %q needs http:// or https:// and a host", address.flag, address.value))
		}
	}
	mistakes = append(mistakes, terminal.CheckRoot(c.PublicURL))
	for _, dialect := range c.Dialects {
		if known := append(server.Dialects(), "none"); !slices.Contains(known, dialect) {
			mistakes = append(mistakes, terminal.WrongUsage("--dialects must be some of %s, not %q", strings.Join(known, ", "), dialect))
		}
	}
	platform, err := c.Platform.config()
	mistakes = append(mistakes, err)
	if platform.HistoryPerChat = c.HistoryPerChat; c.HistoryPerChat == 0 {
		platform.HistoryPerChat = -1
	}
	limits, err := c.limits()
	mistakes = append(mistakes, err)
	if c.LogRepeats < 0 {
		mistakes = append(mistakes, errors.New("--log-repeats must not be less than 0"))
	}
	for _, span := range []struct {
		flag  string
		value time.Duration
	}{
		{"--drain-wait", c.DrainWait},
		{"--keep-media", c.KeepMedia},
		{"--keep-delivered", c.KeepDelivered},
		{"--keep-undelivered", c.KeepUndelivered},
		{"--edit-window", c.EditWindow},
		{"--delete-window", c.DeleteWindow},
		{"--link-lifetime", c.LinkLifetime},
	} {
		if span.value < 0 {
			mistakes = append(mistakes, fmt.Errorf("%s must not be less than 0", span.flag))
		}
	}
	cluster, err := c.cluster(c.DatabaseURL)
	mistakes = append(mistakes, err)
	denied, err := outbound.ParsePrefixes(c.DenyFetch)
	if err != nil {
		mistakes = append(mistakes, fmt.Errorf("--deny-fetch: %w", err))
	}
	files, err := filestore.Parse(c.MediaURL)
	if err != nil {
		mistakes = append(mistakes, terminal.WrongUsage("--media-url %s", err))
	} else if cluster.Advertise != "" && !files.Shared() {
		mistakes = append(mistakes, errors.New("--advertise needs --media-url: nodes share the files too; let it name a bucket, s3://bucket/prefix, or a folder that all of them have, file:///mnt/recado, for example on NFS"))
	}
	return server.Config{
		Listen: c.Listen, DataDir: c.Data, DatabaseURL: c.DatabaseURL, Cluster: cluster,
		Platform: platform, Version: terminal.Version(),
		Media:         media.Config{MaxBytes: c.MaxMedia, MaxMemory: c.MaxMediaMemory, AllowPrivate: c.AllowPrivateURLs},
		Blobs:         media.BlobsConfig{MaxFile: c.MaxDownload, Total: c.MediaQuota, PerFolder: c.InstanceQuota, Keep: c.KeepMedia},
		UploadQuota:   c.UploadQuota,
		MediaLocation: files, MediaLocationIsNew: c.MediaURLIsNew,
		Limits:     limits,
		EditWindow: c.EditWindow, DeleteWindow: c.DeleteWindow, LinkLifetime: c.LinkLifetime,
		KeepMessages: c.KeepMessages, MaxMessages: c.MaxMessages,
		KeepDelivered: c.KeepDelivered, KeepUndelivered: c.KeepUndelivered,
		AllowPrivateURLs: c.AllowPrivateURLs, DenyFetch: denied,
		PublicURL: c.PublicURL, BehindProxy: c.BehindProxy, LinkCommand: c.LinkCommand,
		Dialects: c.Dialects, AdminListen: c.AdminListen, DrainWait: c.DrainWait, Traces: c.traces(), OTLPEndpoint: c.OTLPEndpoint,
	}, errors.Join(mistakes...)
}

// Run serves until ctx ends.
func (c serveCommand) Run(ctx context.Context, t terminal.Terminal, read *invocation) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	if config.MasterKey, err = c.Master(ctx); err != nil {
		return err
	}
	c.warn(ctx, t)
	read.file.WarnExposed(ctx, t.Logger)
	if c.Check {
		return t.Done(map[string]any{"done": "checked", "settings": read.file.Len()}, "the settings are right")
	}
	log := repeatlog.New(repeatlog.Config{Next: t.Logger.Handler(), Most: c.LogRepeats, Always: alwaysLogged()})
	defer log.Close() //nolint:contextcheck // ctx has ended by then
	config.Logger = log.Logger()
	if config.MemoryLimit, err = server.LimitMemory(ctx, config.Logger); err != nil {
		config.Logger.WarnContext(ctx, "the runtime does not know how much memory there is: set GOMEMLIMIT", slog.Any("error", err))
	}
	hangups := make(chan os.Signal, 1) // from here on, so that none ends the program
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	s, err := server.New(ctx, config)
	if err != nil {
		return err
	}
	path, err := c.firstLink(ctx, t, s)
	if err == nil {
		err = c.announce(t, s.BaseURL(), path)
	}
	if err != nil {
		return errors.Join(err, s.Close())
	}
	ctx, stop := context.WithCancel(ctx)
	var reloading sync.WaitGroup
	defer reloading.Wait()
	defer stop()
	reloading.Go(func() { reloads{t: t, log: log, server: s, read: read}.run(ctx, hangups, stop) })
	return s.Run(ctx)
}

// alwaysLogged are lines that say what has become of instances: all are written, however many
// there are.
func alwaysLogged() []string {
	return []string{"instance status changed", "instances taken over", "instances handed over"}
}

// firstLink returns the path of the link with which the first owner sets a password; empty
// if somebody has one.
func (c serveCommand) firstLink(ctx context.Context, t terminal.Terminal, s *server.Server) (string, error) {
	account, err := s.Access().EnsureAccount(ctx, data.AccountFlags{Flags: c.Flags}.AccountName())
	if err != nil {
		return "", err
	}
	link, found, err := s.Users().FirstLink(ctx, account.ID)
	if errors.Is(err, gateway.ErrDatabaseAway) {
		// What can be served is served all the same.
		t.Logger.WarnContext(ctx, "no link for the first owner could be made: the next start makes one", slog.Any("error", err))
		return "", nil
	}
	if err != nil || !found {
		return "", err
	}
	return link.Path(), nil
}

// traces reports whether somebody wants traces: by the setting, or by the variables of
// OpenTelemetry.
func (c serveFlags) traces() bool {
	if c.OTLPEndpoint != "" {
		return true
	}
	named := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") + os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	return named != "" && os.Getenv("OTEL_TRACES_EXPORTER") != "none" && !strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true")
}

// warn logs what is risky about the addresses.
func (c serveCommand) warn(ctx context.Context, t terminal.Terminal) {
	if !c.BehindProxy && !doctor.IsLoopback(c.Listen) {
		t.Logger.WarnContext(ctx, "listening beyond this machine without TLS: put a proxy in front and set --behind-proxy",
			slog.String("listen", c.Listen))
	}
	if !doctor.IsLoopback(c.AdminListen) {
		t.Logger.WarnContext(ctx, "the admin address is reachable beyond this machine, and asks for no password: keep strangers away from it",
			slog.String("admin_listen", c.AdminListen))
	}
	if c.BehindProxy && c.PublicURL == "" {
		t.Logger.WarnContext(ctx, "behind a proxy without --public-url: links in answers begin with the Host that a request names")
	}
}

// announce says where the gateway answers, and how to begin. path is that of the link for
// the first owner, if there is one.
func (c serveCommand) announce(t terminal.Terminal, bound, path string) error {
	base := clickable(c.Listen, bound)
	everywhere := ""
	if isEverywhere(c.Listen) {
		everywhere = fmt.Sprintf(" on every address of this machine (%s),", c.Listen)
	}
	program := terminal.Program()
	create := strings.Join(append([]string{program + " keys create --name ops --partner"}, c.Given(true)...), " ")
	dashboard, begin := strings.TrimRight(cmp.Or(c.PublicURL, base), "/")+path, "Dashboard: "
	if path != "" {
		begin = "Begin in a browser; this link sets the owner's password, once, within a day:\n  "
	}
	return t.Print(map[string]string{"url": base, "listen": c.Listen, "data": c.Data, "dashboardUrl": dashboard}, fmt.Sprintf(
		`recado %s answers at %s,%s data in %s
%s%s
The first API key, instance and code, in another terminal:
  export RECADO_URL=%s
  export RECADO_API_KEY=$(%s)
  %s instances create shop
  %[9]s qr shop`, terminal.Version(), base, everywhere, c.Data, begin, dashboard, base, create, program))
}

// clickable is an address of the gateway that can be opened on this machine: bound, or
// a loopback address if the gateway listens on every address.
func clickable(listen, bound string) string {
	host, _, err := net.SplitHostPort(listen)
	address, boundErr := url.Parse(bound)
	if err != nil || boundErr != nil || !isEverywhere(listen) {
		return bound
	}
	here := "127.0.0.1"
	if strings.Contains(host, ":") {
		here = "::1"
	}
	return "http://" + net.JoinHostPort(here, address.Port())
}

// isEverywhere reports whether listening there means every address.
func isEverywhere(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	ip := net.ParseIP(host)
	return err == nil && (host == "" || ip != nil && ip.IsUnspecified())
}
