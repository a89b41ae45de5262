// A session: its client, its state, its beginning and its end.

package whatsapp

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/caches"
	"github.com/recado-project/recado/internal/whatsapp/channels"
	"github.com/recado-project/recado/internal/whatsapp/chatstate"
	"github.com/recado-project/recado/internal/whatsapp/contacts"
	"github.com/recado-project/recado/internal/whatsapp/files"
	"github.com/recado-project/recado/internal/whatsapp/groups"
	"github.com/recado-project/recado/internal/whatsapp/history"
	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/line"
	"github.com/recado-project/recado/internal/whatsapp/profiles"
	"github.com/recado-project/recado/internal/whatsapp/version"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

const (
	// loginWait bounds the time from a connection to the first sign of life on
	// it: a code to scan, or the login's success.
	loginWait = time.Minute
	// afterPairing is how long the platform may take to ask for the login that
	// follows a pairing; after it the session logs in unasked.
	afterPairing = 10 * time.Second
	// partingWait is how long whatsmeow may take to notice that a connection was
	// given up.
	partingWait = 2 * time.Second
	// queueWait is how long the next connection waits for what the last one has left to
	// handle: longer than anybody waits for a database.
	queueWait = 15 * time.Second
	// abandonWait is how long the end of a session waits for a connection that is just
	// being made.
	abandonWait = time.Second
	// releaseWait bounds how long the end of a session waits for the database.
	releaseWait = 5 * time.Second
	// maxSignals bounds how many signals wait for the owner.
	maxSignals = 16
)

// session is one client of whatsmeow and the goroutine that owns it: that goroutine
// alone connects, disconnects and decides what follows from an event of the connection.
// whatsmeow's own reconnecting is off.
type session struct {
	connector  *Connector
	instanceID string
	route      *route              // to the platform
	label      gateway.DeviceLabel // for the phone that links it
	lifecycle  gateway.Lifecycle
	logger     *slog.Logger

	ctx    context.Context //nolint:containedctx // until Close, or until the session is over; its handlers need it
	cancel context.CancelFunc
	// connCtx is the connections': it ends after the last of them was closed. One
	// that ended first would break the connection while it is being closed.
	connCtx  context.Context //nolint:containedctx // whatsmeow keeps it
	connDone context.CancelFunc
	done     chan struct{}
	start    sync.Once

	signals   signals // for the owner
	queues    *nodeQueues
	histories line.Queue // apart from other tasks: a history may take long
	usernames *contacts.Usernames
	ringing   caches.Ringing
	// pictureOnce asks for the account's picture; later the platform reports changes.
	pictureOnce sync.Once

	line     *line.Line // what the parts below share
	groups   *groups.Groups
	chats    *chatstate.Chats
	contacts *contacts.Contacts
	profiles *profiles.Profiles
	channels *channels.Channels
	files    *files.Files
	older    *history.Requests

	mu              sync.Mutex // guards the fields below
	linked          bool
	device          string          // names the keys; empty if nothing is linked
	reload          bool            // a pairing's keys, which no client has loaded yet
	passkey         ceremony        // the platform's question for a passkey, if it has asked
	restrictedUntil time.Time       // zero if the platform restricts nothing, or has not said until when
	codesEnd        time.Time       // when the last of the codes being shown runs out
	claimed         version.Version // of the web client, in the last handshake
}

var _ gateway.SupervisedSession = (*session)(nil)

func newSession(
	c *Connector, tenure gateway.Tenure, instance gateway.Instance, route *route, own *store.Device, lifecycle gateway.Lifecycle, receiver gateway.Receiver,
) *session {
	// Whatever the session does stands on this tenure. Nothing else of what it was opened for is
	// kept: a request is over long before the session is.
	base := gateway.WithTenure(context.Background(), tenure)
	ctx, cancel := context.WithCancel(base)
	connCtx, connDone := context.WithCancel(base)
	logger := sessionLogger(c.config.Logger, instance.ID)
	signals := signals{ctx: ctx, sent: make(chan signal, maxSignals)}
	queues, usernames := &nodeQueues{}, &contacts.Usernames{}
	client := newClient(own, upstreamLog{log{logger}, usernames.NodeRead, queues.ended}, route, connCtx)
	shared := line.New(line.Config{
		Context: ctx, Client: client, Receiver: receiver, Logger: logger, Now: c.config.Now, Wait: c.config.SendTimeout,
		GivenUp: func() { signals.send(signal{kind: connectionGivenUp}) },
	})
	chats := chatstate.New(shared)
	people := contacts.New(shared, c.keys.People(), chats)
	s := &session{
		connector: c, instanceID: instance.ID, route: route, label: instance.Label, lifecycle: lifecycle, logger: logger,
		ctx: ctx, cancel: cancel, connCtx: connCtx, connDone: connDone, done: make(chan struct{}),
		signals: signals, queues: queues, usernames: usernames,
		line: shared,
		groups: groups.New(shared, func(ctx context.Context, list []byte) error {
			return keys.KeepGroups(ctx, shared.Client().Store, list)
		}),
		chats:    chats,
		contacts: people,
		profiles: profiles.New(shared, people, func() { signals.send(signal{kind: pictureMoved}) }),
		channels: channels.New(shared),
		files:    files.New(shared, c.places, c.config.TempDir, c.config.MaxMediaBytes),
		older:    history.NewRequests(shared, c.config.OlderTimeout),
	}
	s.use(client)
	return s
}

// newClient makes a client of whatsmeow that asks nobody anything yet.
func newClient(own *store.Device, log upstreamLog, route *route, connCtx context.Context) *whatsmeow.Client {
	own.Log = log.log
	client := whatsmeow.NewClient(own, log)
	slim(client)
	client.SetWebsocketHTTPClient(route.client)
	client.SetPreLoginHTTPClient(route.client)
	client.SetMediaHTTPClient(route.media)
	client.EnableAutoReconnect = false
	client.DisableLoginAutoReconnect = true
	// Together: the platform is told "received" after our handler has committed, and a
	// message that was decrypted before a crash comes to the handler again.
	client.SynchronousAck = true
	client.EnableDecryptedEventBuffer = true
	client.BackgroundEventCtx = connCtx
	// How the owner has arranged chats before the link is kept too.
	client.EmitAppStateEventsOnFullSync = true
	// whatsmeow would load years of somebody's messages into memory, and leave a
	// goroutine behind that waits for more.
	client.ManualHistorySyncDownload = true
	// The phone is told "received" when the history was kept.
	client.DisableManualHistorySyncReceipt = true
	return client
}

// load makes a client with these keys, and makes it the session's.
func (s *session) load(own *store.Device) {
	s.use(newClient(own, upstreamLog{log{s.logger}, s.usernames.NodeRead, s.queues.ended}, s.route, s.connCtx))
}

// use makes a client the session's.
func (s *session) use(client *whatsmeow.Client) {
	own := client.Store
	keys.Observe(own, keys.Observer{
		PairsLearnt: s.line.PairsLearnt, DatabaseFailed: s.line.GiveUp,
		StateWanted: func(collection string) { s.chats.Wanted(s.ctx, collection) },
	})
	client.GetClientPayload = func() *waWa6.ClientPayload { return s.introduce(own) }
	client.GetMessageForRetry = s.sentMessage
	client.PrePairCallback = func(jid types.JID, _, _ string) bool {
		return s.allowPairing(jid)
	}
	client.AddEventHandlerWithSuccessStatus(s.handle)

	s.line.Use(client)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.linked = own.ID != nil; s.linked {
		s.device = own.ID.String()
	}
}

// The parts (gateway.Session).

// Account is the part about the session's own account.
func (s *session) Account() gateway.OwnAccount { return s.profiles }

// Messages is the part that sends messages.
func (s *session) Messages() gateway.Messages { return s }

// Files is the part that transfers files.
func (s *session) Files() gateway.Files { return s.files }

// People is the part about other people.
func (s *session) People() gateway.People { return s.contacts }

// Groups is the part about groups.
func (s *session) Groups() gateway.Groups { return s.groups }

// Channels is the part about channels.
func (s *session) Channels() gateway.Channels { return s.channels }

// Chats is the part that arranges chats.
func (s *session) Chats() gateway.Chats { return s.chats }

// Calls is the part about calls.
func (s *session) Calls() gateway.Calls { return s }

// introduce returns what the client sends in a handshake. whatsmeow's own version is one
// for the whole process; this one is the newest at every handshake. A device that is linked
// now has the instance's label.
func (s *session) introduce(own *store.Device) *waWa6.ClientPayload {
	s.connector.versions.By(s.route.client)
	payload, newest := own.GetClientPayload(), s.connector.versions.Current()
	if own.ID == nil && s.label != (gateway.DeviceLabel{}) {
		payload = wire.Labelled(payload, s.label)
	}
	version.Claim(payload, newest)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claimed = newest
	return payload
}

// version is the version of the web client that the last handshake has named.
func (s *session) version() version.Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claimed
}

func (s *session) allowPairing(jid types.JID) bool {
	if err := s.lifecycle.Pairing(s.ctx, jid.String()); err != nil {
		s.logger.ErrorContext(s.ctx, "linking refused", slog.Any("error", err))
		return false
	}
	return true
}

// Start begins connecting (gateway.SupervisedSession).
func (s *session) Start() {
	s.start.Do(func() {
		s.connector.running.Go(func() {
			defer close(s.done)
			defer s.release()
			defer s.connDone()
			// A task that asks the library for something is held by its lock while it connects,
			// for up to 20 s, and goes on to nothing: the keys are closed by then.
			defer s.histories.CloseWithin(abandonWait)
			defer s.line.Tasks.CloseWithin(abandonWait)
			defer s.older.Close()
			defer s.chats.CloseWithin(abandonWait)
			s.run()
		})
	})
}

// Close ends the session (gateway.SupervisedSession).
func (s *session) Close() {
	s.cancel()
	s.start.Do(func() { // never started: there is nobody to wait for
		s.connDone()
		s.release()
		close(s.done)
	})
	<-s.done
	s.line.Close()
}

// release lets another session load the keys.
func (s *session) release() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), releaseWait)
	defer cancel()
	if err := s.connector.keys.Release(ctx, s.line.Client().Store); err != nil {
		s.logger.WarnContext(ctx, "what was learnt last of contacts is not written", slog.Any("error", err))
	}
	if s.route != &s.connector.direct {
		s.route.close()
	}
}

// Linked reports whether there are keys that the platform accepted (gateway.Linking).
func (s *session) Linked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.linked
}

// profile is the account as the lifecycle learns of it, cleaned.
func (s *session) profile() gateway.Profile {
	self := s.line.Self()
	return gateway.Profile{JID: self.JID, LID: self.LID, Name: self.Name}.Cleaned()
}
