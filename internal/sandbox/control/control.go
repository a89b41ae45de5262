// Package control is the sandbox's control API: what a person does with a
// phone, and what a test does with the platform, as HTTP and JSON.
//
// It decides nothing: it reads requests strictly, calls the platform, and
// writes answers and errors in the program's usual form. The sandbox mounts it.
package control

import (
	"context"
	"encoding/hex"
	"log/slog"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/platform"
)

// Prefix is the path under which the handler is mounted.
const Prefix = "/sandbox/api"

// Platform is what the control API needs of the platform server.
type Platform interface {
	Now() time.Time
	RootKey() [32]byte
	Phones(ctx context.Context) ([]platform.Phone, error)
	Phone(ctx context.Context, number string) (platform.Phone, error)
	UpdatePhone(ctx context.Context, number string, change platform.PhoneUpdate) (platform.Phone, error)
	Scan(ctx context.Context, number, code string) error
	EnterCode(ctx context.Context, number, code string) error
	Unlink(ctx context.Context, number string) error
	Messages(ctx context.Context, number, chat string) ([]platform.PhoneMessage, error)
	SendMessage(ctx context.Context, number string, m platform.OutgoingMessage) (string, error)
	React(ctx context.Context, number, messageID, reaction string) error
	EditMessage(ctx context.Context, number, messageID, text string) error
	DeleteMessage(ctx context.Context, number, messageID string) error
	ForgetMedia(ctx context.Context, number, messageID string, everywhere bool) error
	MarkRead(ctx context.Context, number, messageID string, played bool) error
	SetPresence(ctx context.Context, number, to, presence string) error
	Activity(ctx context.Context, number string) ([]platform.Activity, error)
	Call(ctx context.Context, number, to string, video bool) (string, error)
	SetHistory(ctx context.Context, number string, chats, messages, textBytes int) error
	SetRawHistory(ctx context.Context, number string, part []byte) error
	SendRaw(ctx context.Context, number string, m platform.RawMessage) (string, error)
	SendRawReceipt(ctx context.Context, number string, r platform.RawReceipt) error
	Upload(kind string, content []byte) (mediahost.Pointer, error)
	LoseKeys(ctx context.Context, number string) error
	Restrict(ctx context.Context, number string, d time.Duration) error
	Ban(ctx context.Context, number string, d time.Duration) error
	Replace(ctx context.Context, number string) error
	Groups(ctx context.Context) ([]platform.GroupInfo, error)
	Group(ctx context.Context, id string) (platform.GroupInfo, error)
	CreateGroup(ctx context.Context, wanted platform.NewGroup) (platform.GroupInfo, error)
	UpdateGroup(ctx context.Context, id string, change platform.GroupUpdate) (platform.GroupInfo, error)
	SetFaults(f platform.Faults) error
	Disconnect(ctx context.Context, number string) error
}

// api holds what the handlers share.
type api struct {
	platform Platform
	logger   *slog.Logger
	web      *http.Client // fetches files that callers name by URL
}

// handler answers one operation: with a body, or with nil for 204.
type handler func(r *http.Request) (any, error)

// New returns the handler of everything below Prefix. Files that callers name by
// URL are fetched from where guard allows.
func New(p Platform, guard *outbound.Guard, logger *slog.Logger) http.Handler {
	a := &api{platform: p, logger: logger, web: newFetcher(guard)}
	routes := map[string]map[string]handler{
		"/trust":                                       {http.MethodGet: a.trust},
		"/phones":                                      {http.MethodGet: a.listPhones},
		"/phones/{number}":                             {http.MethodGet: a.getPhone, http.MethodPut: a.putPhone},
		"/phones/{number}/scan":                        {http.MethodPost: a.scan},
		"/phones/{number}/pairing-code":                {http.MethodPost: a.enterCode},
		"/phones/{number}/unlink":                      {http.MethodPost: a.unlink},
		"/phones/{number}/messages":                    {http.MethodGet: a.listMessages, http.MethodPost: a.sendMessage},
		"/phones/{number}/messages/{message}/read":     {http.MethodPost: a.markRead},
		"/phones/{number}/messages/{message}/played":   {http.MethodPost: a.markPlayed},
		"/phones/{number}/messages/{message}":          {http.MethodDelete: a.deleteMessage},
		"/phones/{number}/messages/{message}/reaction": {http.MethodPost: a.react},
		"/phones/{number}/messages/{message}/edit":     {http.MethodPost: a.editMessage},
		"/phones/{number}/messages/{message}/media":    {http.MethodDelete: a.forgetMedia},
		"/phones/{number}/raw":                         {http.MethodPost: a.sendRaw},
		"/phones/{number}/raw-receipt":                 {http.MethodPost: a.sendRawReceipt},
		"/media":                                       {http.MethodPost: a.upload},
		"/phones/{number}/presence":                    {http.MethodPost: a.setPresence},
		"/phones/{number}/activity":                    {http.MethodGet: a.listActivity},
		"/phones/{number}/call":                        {http.MethodPost: a.call},
		"/phones/{number}/history":                     {http.MethodPut: a.setHistory},
		"/phones/{number}/lose-keys":                   {http.MethodPost: a.loseKeys},
		"/phones/{number}/restrict":                    {http.MethodPost: a.restrict},
		"/phones/{number}/ban":                         {http.MethodPost: a.ban},
		"/phones/{number}/replace":                     {http.MethodPost: a.replace},
		"/groups":                                      {http.MethodGet: a.listGroups, http.MethodPost: a.createGroup},
		"/groups/{group}":                              {http.MethodGet: a.getGroup, http.MethodPut: a.updateGroup, http.MethodPatch: a.updateGroup},
		"/faults":                                      {http.MethodPut: a.setFaults},
		"/faults/disconnect":                           {http.MethodPost: a.disconnect},
	}
	mux := http.NewServeMux()
	for path, methods := range routes {
		mux.Handle(Prefix+path, a.route(methods))
	}
	mux.HandleFunc("/", a.notFound)
	return unclean(mux, a.notFound)
}

// list is the body of every list.
type list[T any] struct {
	Data []T `json:"data"`
}

// trust tells a client of the protocol what it needs to connect here.
func (a *api) trust(r *http.Request) (any, error) {
	key := a.platform.RootKey()
	scheme := "ws"
	if r.TLS != nil {
		scheme = "wss"
	}
	return struct {
		WebsocketURL string `json:"websocketUrl"`
		RootKey      string `json:"rootKey"`
		MediaHost    string `json:"mediaHost"`
	}{scheme + "://" + r.Host + "/ws/chat", hex.EncodeToString(key[:]), r.Host}, nil
}
