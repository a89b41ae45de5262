// Package control is the sandbox's control API over HTTP: what people can do with a
// phone, and what tests can do with the platform.
//
// It decides nothing. It checks the form of requests, calls the platform's
// services, and writes answers and errors in the same form as the gateway's API.
package control

import (
	"encoding/hex"
	"log/slog"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/addressbook"
	"github.com/recado-project/recado/internal/sandbox/call"
	"github.com/recado-project/recado/internal/sandbox/channel"
	"github.com/recado-project/recado/internal/sandbox/chatstate"
	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/label"
	"github.com/recado-project/recado/internal/sandbox/link"
	"github.com/recado-project/recado/internal/sandbox/passkey"
	"github.com/recado-project/recado/internal/sandbox/phone"
	"github.com/recado-project/recado/internal/sandbox/presence"
	"github.com/recado-project/recado/internal/sandbox/profile"
	"github.com/recado-project/recado/internal/sandbox/session"
	"github.com/recado-project/recado/internal/sandbox/setting"
)

// Prefix is the path under which the handler is mounted.
const Prefix = "/sandbox/api"

// Config has the services that the control API offers.
type Config struct {
	Phones      *phone.Service
	Profiles    *profile.Service
	Groups      *group.Book
	Linking     *link.Service
	Presences   *presence.Service
	Sessions    *session.Service
	Faults      *fault.Service
	Activities  *account.ActivityLog
	Accounts    *account.Directory
	Passkeys    *passkey.Service
	ChatStates  *chatstate.Service
	AddressBook *addressbook.Service
	Labels      *label.Service
	Channels    *channel.Service
	Calls       *call.Service
	Settings    *setting.Service

	RootKey [32]byte        // the public key that clients have to trust
	Guard   *outbound.Guard // allows the addresses from which files are fetched that callers name by URL
	Now     func() time.Time
	Logger  *slog.Logger
}

// api holds what the handlers share.
type api struct {
	config Config
	asked  passkeyQuestions
	web    *http.Client // fetches files that callers name by URL
}

// handler answers one operation. It returns the body, or nil for 204.
type handler func(r *http.Request) (any, error)

// New returns the handler of all paths below Prefix.
func New(config Config) http.Handler {
	a := &api{config: config, web: newFetcher(config.Guard)}
	routes := map[string]map[string]handler{
		"/trust":                                       {http.MethodGet: a.trust},
		"/phones":                                      {http.MethodGet: a.listPhones},
		"/phones/{number}":                             {http.MethodGet: a.getPhone, http.MethodPut: a.putPhone},
		"/phones/{number}/scan":                        {http.MethodPost: a.scan},
		"/phones/{number}/pairing-code":                {http.MethodPost: a.enterCode},
		"/phones/{number}/passkey":                     {http.MethodGet: a.getPasskey},
		"/phones/{number}/passkey/assert":              {http.MethodPost: a.assertPasskey},
		"/phones/{number}/passkey/confirm":             {http.MethodPost: a.confirmPasskey},
		"/phones/{number}/passkey/refuse":              {http.MethodPost: a.refusePasskey},
		"/phones/{number}/passkey/options":             {http.MethodPost: a.askToRegisterPasskey},
		"/phones/{number}/passkey/credentials":         {http.MethodGet: a.listPasskeys, http.MethodPost: a.registerPasskey},
		"/phones/{number}/unlink":                      {http.MethodPost: a.unlink},
		"/phones/{number}/contacts":                    {http.MethodGet: a.listContacts},
		"/phones/{number}/contacts/{contact}":          {http.MethodPut: a.nameContact},
		"/phones/{number}/status-audience":             {http.MethodGet: a.getAudience, http.MethodPut: a.setAudience},
		"/phones/{number}/chats":                       {http.MethodGet: a.listChatStates},
		"/phones/{number}/chats/{chat}":                {http.MethodPatch: a.changeChat, http.MethodDelete: a.deleteChat},
		"/phones/{number}/messages":                    {http.MethodGet: a.listMessages, http.MethodPost: a.sendMessage},
		"/phones/{number}/messages/{message}/read":     {http.MethodPost: a.markRead},
		"/phones/{number}/messages/{message}/played":   {http.MethodPost: a.markPlayed},
		"/phones/{number}/messages/{message}":          {http.MethodDelete: a.deleteMessage},
		"/phones/{number}/messages/{message}/reaction": {http.MethodPost: a.react},
		"/phones/{number}/messages/{message}/vote":     {http.MethodPost: a.vote},
		"/phones/{number}/messages/{message}/response": {http.MethodPost: a.respondToEvent},
		"/phones/{number}/messages/{message}/cancel":   {http.MethodPost: a.cancelEvent},
		"/phones/{number}/messages/{message}/edit":     {http.MethodPost: a.editMessage},
		"/phones/{number}/messages/{message}/pin":      {http.MethodPut: a.pinMessage},
		"/phones/{number}/messages/{message}/star":     {http.MethodPut: a.starMessage},
		"/phones/{number}/messages/{message}/for-me":   {http.MethodDelete: a.deleteForMe},
		"/phones/{number}/messages/{message}/media":    {http.MethodDelete: a.forgetMedia},
		"/phones/{number}/raw":                         {http.MethodPost: a.sendRaw},
		"/phones/{number}/raw-receipt":                 {http.MethodPost: a.sendRawReceipt},
		"/media":                                       {http.MethodPost: a.upload},
		"/phones/{number}/presence":                    {http.MethodPost: a.setPresence},
		"/phones/{number}/activity":                    {http.MethodGet: a.listActivity},
		"/phones/{number}/blocks/{who}":                {http.MethodPut: a.block, http.MethodDelete: a.unblock},
		"/phones/{number}/call":                        {http.MethodPost: a.call},
		"/phones/{number}/calls/{call}/end":            {http.MethodPost: a.endCall},
		"/phones/{number}/history":                     {http.MethodPut: a.setHistory},
		"/phones/{number}/lose-keys":                   {http.MethodPost: a.loseKeys},
		"/phones/{number}/restrict":                    {http.MethodPost: a.restrict},
		"/phones/{number}/ban":                         {http.MethodPost: a.ban, http.MethodDelete: a.liftBan},
		"/phones/{number}/replace":                     {http.MethodPost: a.replace},
		"/groups":                                      {http.MethodGet: a.listGroups, http.MethodPost: a.createGroup},
		"/groups/{group}":                              {http.MethodGet: a.getGroup, http.MethodPut: a.updateGroup, http.MethodPatch: a.updateGroup},
		"/groups/{group}/settings":                     {http.MethodGet: a.groupSettings},
		"/groups/{group}/community":                    {http.MethodPut: a.moveGroup},
		"/communities":                                 {http.MethodPost: a.createCommunity},
		"/phones/{number}/join":                        {http.MethodPost: a.joinGroup},
		"/channels":                                    {http.MethodGet: a.listChannels, http.MethodPost: a.createChannel},
		"/channels/{channel}":                          {http.MethodGet: a.getChannel, http.MethodPatch: a.setChannel, http.MethodDelete: a.deleteChannel},
		"/channels/{channel}/posts":                    {http.MethodPost: a.writePost},
		"/channels/{channel}/posts/{post}":             {http.MethodPatch: a.editPost, http.MethodDelete: a.deletePost},
		"/channels/{channel}/posts/{post}/reaction":    {http.MethodPost: a.reactToPost},
		"/phones/{number}/channels/{channel}":          {http.MethodPut: a.followChannel, http.MethodDelete: a.unfollowChannel},
		"/problems":                                    {http.MethodGet: a.listProblems},
		"/faults":                                      {http.MethodPut: a.setFaults},
		"/faults/disconnect":                           {http.MethodPost: a.disconnect},

		"/phones/{number}/chats/{chat}/messages":             {http.MethodDelete: a.clearChat},
		"/phones/{number}/raw-setting":                       {http.MethodPost: a.setRaw},
		"/phones/{number}/labels":                            {http.MethodGet: a.listLabels},
		"/phones/{number}/labels/{label}":                    {http.MethodPut: a.setLabel, http.MethodDelete: a.deleteLabel},
		"/phones/{number}/chats/{chat}/labels/{label}":       {http.MethodPut: a.labelChat, http.MethodDelete: a.labelChat},
		"/phones/{number}/messages/{message}/labels/{label}": {http.MethodPut: a.labelMessage, http.MethodDelete: a.labelMessage},
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

// trust answers with what a client of the protocol needs to connect here.
func (a *api) trust(r *http.Request) (any, error) {
	key := a.config.RootKey
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
