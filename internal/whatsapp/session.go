// A session: its client, its state, its beginning and its end.

package whatsapp

import (
	"context"
	"log/slog"
	"reflect"
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
	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/older"
	"github.com/recado-project/recado/internal/whatsapp/presences"
	"github.com/recado-project/recado/internal/whatsapp/profiles"
	"github.com/recado-project/recado/internal/whatsapp/taskqueue"
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
	lifetime

	connector  *Connector
	instanceID string
	route      *route              // to the platform
	label      gateway.DeviceLabel // for the phone that links it
	lifecycle  gateway.Lifecycle
	receiver   gateway.Receiver
	logger     *slog.Logger

	signals  chan signal // for the owner
	queues   nodeQueues
	handlers handlers
	caches   sessionCaches

	tasks     taskqueue.Queue
	histories taskqueue.Queue // apart: a history may take long
	settings  taskqueue.Queue // reads the app state

	// pictureOnce asks for the account's picture; later the platform reports changes.
	pictureOnce sync.Once
	ringing     caches.Ringing

	mu sync.Mutex // guards the fields below
	identity
	connection

	*groups.Groups
	*profiles.Profiles
	*chatstate.Chats
	*contacts.Contacts
	*presences.Presences
	*channels.Channels
	*files.Files
	*older.Requests
}

// lifetime is how long the parts of a session run.
type lifetime struct {
	ctx    context.Context //nolint:containedctx // until Close, or until the session is over; its handlers need it
	cancel context.CancelFunc
	// connCtx is the connections': it ends after the last of them was closed. One
	// that ended first would break the connection while it is being closed.
	connCtx  context.Context //nolint:containedctx // whatsmeow keeps it
	connDone context.CancelFunc
	done     chan struct{}
	start    sync.Once
}

// handlers is read-locked during every call of the lifecycle or the receiver by whatsmeow's
// goroutines. Once closed is set there are no more such calls.
type handlers struct {
	sync.RWMutex
	closed bool
}

// sessionCaches is what a session remembers in memory of people.
type sessionCaches struct {
	numberless caches.People    // whom events have shown without a number
	usernames  caches.Usernames // of messages that were read
}

// identity is the client in use, and the account that it belongs to.
type identity struct {
	client *whatsmeow.Client
	linked bool
	device string // names the keys; empty if nothing is linked
	reload bool   // a pairing's keys, which no client has loaded yet
	self   gateway.Party

	passkey ceremony // the platform's question for a passkey, if it has asked

	restrictedUntil time.Time // zero if the platform restricts nothing, or has not said until when
}

// connection is what is known of the connection in use.
type connection struct {
	endContext context.CancelFunc // gives it up; nil: it was given up, or there is none
	codesEnd   time.Time          // when the last of the codes being shown runs out
	claimed    version.Version    // of the web client, in the last handshake
}

var _ gateway.Session = (*session)(nil)

func newSession(
	c *Connector, tenure gateway.Tenure, instance gateway.Instance, route *route, own *store.Device, lifecycle gateway.Lifecycle, receiver gateway.Receiver,
) *session {
	// Whatever the session does stands on this tenure. Nothing else of what it was opened for is
	// kept: a request is over long before the session is.
	base := gateway.WithTenure(context.Background(), tenure)
	ctx, cancel := context.WithCancel(base)
	connCtx, connDone := context.WithCancel(base)
	s := &session{
		lifetime:   lifetime{ctx: ctx, cancel: cancel, connCtx: connCtx, connDone: connDone, done: make(chan struct{})},
		connector:  c,
		instanceID: instance.ID,
		route:      route,
		label:      instance.Label,
		lifecycle:  cleanLifecycle{lifecycle},
		receiver:   cleanReceiver{Receiver: receiver, now: c.config.Now},
		logger:     sessionLogger(c.config.Logger, instance.ID),
		signals:    make(chan signal, maxSignals),
	}
	s.Groups = groups.New(groups.Config{Client: s.current, Self: s.Self, Person: s.person, Keep: s.keepGroups, Wait: c.config.SendTimeout})
	s.Profiles = profiles.New(profiles.Config{
		Client: s.current, Self: s.Self, Person: s.person, Picture: s.ProfilePicture, Changed: s.accountChangedHere,
		Now: s.now, Wait: c.config.SendTimeout,
	})
	s.Chats = chatstate.New(chatstate.Config{
		Client: s.current, Person: s.person, Receive: s.receive, Later: s.settings.Add, Logger: s.logger, Now: s.now,
		Wait: c.config.SendTimeout,
	})
	s.Presences = presences.New(presences.Config{
		Context: s.ctx, Client: s.current, Self: s.Self, Person: s.person, Complete: s.completeAddresses, Receive: s.receiver.Receive,
		Later: func(task func()) { s.tasks.Add(task) }, Logger: s.logger, Now: s.now, Wait: c.config.SendTimeout,
	})
	s.Requests = older.New(older.Config{
		Client: s.current, Receive: s.olderArrived, Now: s.now, Wait: c.config.SendTimeout, Patience: c.config.OlderTimeout,
	})
	s.Contacts = contacts.New(contacts.Config{Client: s.current, Pairs: c.keys.People(), Send: s.Chats.Send, Wait: c.config.SendTimeout})
	s.Channels = channels.New(channels.Config{Client: s.current, Now: s.now, Wait: c.config.SendTimeout})
	s.Files = files.New(files.Config{Client: s.current, TempDir: c.config.TempDir, MaxBytes: c.config.MaxMediaBytes})
	s.use(own)
	return s
}

// now is the time by the connector's clock.
func (s *session) now() time.Time { return s.connector.config.Now() }

// slim takes from a new client the room that it has reserved for 256 sent messages: it is
// a third of what an idle instance needs. A client that sends gets it back little by little.
// The library has no setting for it; if it loses the field, nothing is lost here.
func slim(client *whatsmeow.Client) {
	sent := reflect.ValueOf(client).Elem().FieldByName("recentMessagesMap")
	if sent.Kind() == reflect.Map {
		reflect.NewAt(sent.Type(), sent.Addr().UnsafePointer()).Elem().Set(reflect.MakeMap(sent.Type()))
	}
}

// use makes a client with these keys, and makes it the session's.
func (s *session) use(own *store.Device) {
	keys.Observe(own, keys.Observer{PairsLearnt: s.pairsLearnt, DatabaseFailed: s.giveUp, StateWanted: func(collection string) { s.Wanted(s.ctx, collection) }})
	own.Log = newLog(s.logger)
	client := whatsmeow.NewClient(own, log{logger: s.logger, read: s.nodeRead, queueEnded: s.queues.ended})
	slim(client)
	client.SetWebsocketHTTPClient(s.route.client)
	client.SetPreLoginHTTPClient(s.route.client)
	client.SetMediaHTTPClient(s.route.media)
	client.EnableAutoReconnect = false
	client.DisableLoginAutoReconnect = true
	// Together: the platform is told "received" after our handler has committed, and a
	// message that was decrypted before a crash comes to the handler again.
	client.SynchronousAck = true
	client.EnableDecryptedEventBuffer = true
	client.BackgroundEventCtx = s.connCtx
	// How the owner has arranged chats before the link is kept too.
	client.EmitAppStateEventsOnFullSync = true
	// whatsmeow would load years of somebody's messages into memory, and leave a
	// goroutine behind that waits for more.
	client.ManualHistorySyncDownload = true
	// The phone is told "received" when the history was kept.
	client.DisableManualHistorySyncReceipt = true
	client.GetClientPayload = func() *waWa6.ClientPayload { return s.introduce(own) }
	client.GetMessageForRetry = s.sentMessage
	client.PrePairCallback = func(jid types.JID, _, _ string) bool {
		return s.allowPairing(jid)
	}
	client.AddEventHandlerWithSuccessStatus(s.handle)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = client
	s.linked = own.ID != nil
	s.self = gateway.Party{}
	if s.linked {
		s.device = own.ID.String()
		s.self = gateway.Party{JID: wire.JIDOf(*own.ID), LID: wire.JIDOf(own.LID), Name: own.PushName}
	}
}

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

// Start begins connecting (gateway.Session).
func (s *session) Start() {
	s.start.Do(func() {
		s.connector.running.Go(func() {
			defer close(s.done)
			defer s.release()
			defer s.connDone()
			// A task that asks the library for something is held by its lock while it connects,
			// for up to 20 s, and goes on to nothing: the keys are closed by then.
			defer s.histories.CloseWithin(abandonWait)
			defer s.tasks.CloseWithin(abandonWait)
			defer s.CloseRequests()
			defer s.settings.CloseWithin(abandonWait)
			s.run()
		})
	})
}

// Close ends the session (gateway.Session).
func (s *session) Close() {
	s.cancel()
	s.start.Do(func() { // never started: there is nobody to wait for
		s.connDone()
		s.release()
		close(s.done)
	})
	<-s.done
	s.closeHandlers()
}

// release lets another session load the keys.
func (s *session) release() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), releaseWait)
	defer cancel()
	if err := s.connector.keys.Release(ctx, s.current().Store); err != nil {
		s.logger.WarnContext(ctx, "what was learnt last of contacts is not written", slog.Any("error", err))
	}
	if s.route != &s.connector.direct {
		s.route.close()
	}
}

// closeHandlers waits for the calls of the lifecycle and the receiver that are under way,
// and lets no more through.
func (s *session) closeHandlers() {
	s.handlers.Lock()
	defer s.handlers.Unlock()
	s.handlers.closed = true
}

// Self returns the account (gateway.Session).
func (s *session) Self() gateway.Party {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.self
}

// Linked reports whether there are keys that the platform accepted
// (gateway.Session).
func (s *session) Linked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.linked
}

// current returns the client in use. It changes after a pairing, whether that
// succeeded or failed.
func (s *session) current() *whatsmeow.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

func (s *session) profile() gateway.Profile {
	self := s.Self()
	return gateway.Profile{JID: self.JID, LID: self.LID, Name: self.Name}
}

// rename notes the account's name.
func (s *session) rename(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.self.Name = name
}
