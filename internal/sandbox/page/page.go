// Package page is the page on which people see the sandbox's phones and use them. It
// decides nothing: it shows what the platform's services answer, and calls the same ones
// as the control API.
package page

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/call"
	"github.com/recado-project/recado/internal/sandbox/chatstate"
	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sandbox/feed"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/link"
	"github.com/recado-project/recado/internal/sandbox/passkey"
	"github.com/recado-project/recado/internal/sandbox/phone"
	"github.com/recado-project/recado/internal/sandbox/presence"
	"github.com/recado-project/recado/internal/sandbox/profile"
	"github.com/recado-project/recado/internal/sandbox/scan"
	"github.com/recado-project/recado/internal/sandbox/session"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

// Config has the services that the page shows. The first part is required.
type Config struct {
	Phones     *phone.Service
	Calls      *call.Service
	Profiles   *profile.Service
	ChatStates *chatstate.Service
	Groups     *group.Book
	Linking    *link.Service
	Passkeys   *passkey.Service
	Presences  *presence.Service
	Sessions   *session.Service
	Faults     *fault.Service
	Activities *account.ActivityLog
	Bell       *feed.Bell
	Now        func() time.Time
	Logger     *slog.Logger

	Stopping <-chan struct{} // closed when streams have to end; nil: they end with their requests
	Home     string          // the address of the gateway's own pages, "" if there are none
	Load     bool            // phones keep no messages
}

// Page serves the page and all that belongs to it. It is safe for concurrent use.
type Page struct {
	config Config
	site   *web.Site
	assets *web.Assets
	shown  scan.Codes // that clients show right now
}

// New reads the page's files.
func New(config Config) (*Page, error) {
	if err := required.Check("page", config, "ChatStates"); err != nil {
		return nil, err
	}
	assets, err := web.NewAssets(bubbles.Files, Files)
	if err != nil {
		return nil, err
	}
	words, err := web.ReadWords(bubbles.Files, Files)
	if err != nil {
		return nil, err
	}
	site, err := web.NewSite(web.SiteConfig{Rooms: []web.Files{bubbles.Files, Files}, Words: words, Assets: assets, Logger: config.Logger, Zip: true})
	if err != nil {
		return nil, err
	}
	return &Page{config: config, site: site, assets: assets, shown: scan.None{}}, nil
}

// Owns reports whether the page serves a path: its own address, all below it, and the
// files that it names. Other pages may serve the same files at the same addresses.
func (p *Page) Owns(path string) bool {
	return path == Path || strings.HasPrefix(path, Path+"/ui/") || p.assets.Has(path)
}

// Handler answers requests for paths that the page owns, and offers phones the codes to scan.
func (p *Page) Handler(codes scan.Codes) http.Handler {
	showing := *p
	showing.shown = codes
	mux := http.NewServeMux()
	for _, r := range showing.routes() {
		mux.Handle(r.pattern, showing.handler(r))
	}
	secured := web.Secure(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.assets.Has(r.URL.Path) {
			p.assets.ServeHTTP(w, r)
			return
		}
		secured.ServeHTTP(w, r)
	})
}

// route is one line of the table of routes.
type route struct {
	pattern string // of net/http
	maxBody int64  // 0: that of a form without files
	handle  func(r *request) error
}

const (
	maxForm = 1 << 20
	maxFile = 64<<20 + maxForm
)

// routes is what the page answers.
func (p *Page) routes() []route {
	const number, chat, message = "/ui/phones/{number}", "/ui/phones/{number}/chats/{chat}", "/ui/phones/{number}/messages/{place}"
	return []route{
		{"GET " + Path, 0, p.show},
		{"GET " + Path + "/ui/stream", 0, p.stream},
		{"GET " + Path + "/ui/faults", 0, p.askFaults},
		{"POST " + Path + "/ui/faults", 0, p.setFaults},
		{"POST " + Path + "/ui/faults/disconnect", 0, p.disconnect},
		{"GET " + Path + "/ui/phones/new", 0, p.askPhone},
		{"POST " + Path + "/ui/phones", 0, p.createPhone},
		{"GET " + Path + number, 0, p.askHandset},
		{"POST " + Path + number, maxFile, p.changeHandset},
		{"POST " + Path + number + "/do/{what}", 0, p.doHandset},
		{"GET " + Path + number + "/scan", 0, p.askScan},
		{"GET " + Path + number + "/codes", 0, p.listCodes},
		{"POST " + Path + number + "/scan", maxFile, p.scan},
		{"GET " + Path + number + "/chats/new", 0, p.askChat},
		{"POST " + Path + number + "/chats", 0, p.createChat},
		{"POST " + Path + number + "/groups", 0, p.createGroup},
		{"GET " + Path + chat, 0, p.askAboutChat},
		{"POST " + Path + chat, maxFile, p.changeGroup},
		{"GET " + Path + chat + "/more", 0, p.askMessage},
		{"POST " + Path + chat + "/messages", maxFile, p.send},
		{"POST " + Path + chat + "/presence", 0, p.setPresence},
		{"POST " + Path + chat + "/call", 0, p.call},
		{"POST " + Path + chat + "/read", 0, p.readChat},
		{"GET " + Path + message, 0, p.askChange},
		{"GET " + Path + message + "/file", 0, p.file},
		{"GET " + Path + message + "/text", 0, p.text},
		{"POST " + Path + message + "/opened", 0, p.openOnce},
		{"POST " + Path + message + "/{what}", 0, p.change},
	}
}
