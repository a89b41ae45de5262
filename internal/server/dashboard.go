// The dashboard: how it is put together, and which paths are its own.

package server

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/recado-project/recado/docs"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/dashboard"
	"github.com/recado-project/recado/internal/dashboard/conversation"
	"github.com/recado-project/recado/internal/dashboard/docpages"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/dashboard/live"
	"github.com/recado-project/recado/internal/dashboard/sentence"
	"github.com/recado-project/recado/internal/dashboard/signin"
	"github.com/recado-project/recado/internal/health"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

// openDashboard builds the pages for people.
func (s *Server) openDashboard() (http.Handler, error) {
	inside, documents := []web.Files{frame.Files, bubbles.Files, conversation.Files, sentence.Files, signin.Files, dashboard.Files}, []web.Files{frame.Files, docpages.Files}
	rooms := append(slices.Clone(inside), docpages.Files)
	words, err := web.ReadWords(rooms...)
	if err != nil {
		return nil, fmt.Errorf("server: build dashboard: %w", err)
	}
	assets, err := web.NewAssets(rooms...)
	if err != nil {
		return nil, fmt.Errorf("server: build dashboard: %w", err)
	}
	site, err := web.NewSite(web.SiteConfig{Rooms: inside, Words: words, Assets: assets, Logger: s.config.Logger})
	if err != nil {
		return nil, fmt.Errorf("server: build dashboard: %w", err)
	}
	pulse, err := live.New(live.Config{Bell: &s.bell, Stopping: s.stopping.Done(), Logger: s.config.Logger, Now: s.config.Now})
	if err != nil {
		return nil, fmt.Errorf("server: build dashboard: %w", err)
	}
	s.pools = append(s.pools, pulse.Renderings())
	shares := frame.Shares{Requests: s.api.Requests(), Streams: s.api.Streams(), Bodies: s.api.Bodies()}
	guard := outbound.NewGuard(s.config.DenyFetch)
	if s.config.Media.AllowPrivate {
		guard = nil
	}
	s.health, err = health.New(health.Config{
		Database: s.store, Files: s.blobs, Webhooks: s.use.webhooks, DataDir: s.config.DataDir, Logger: s.config.Logger,
		ClientVersion: s.ClientVersion, Version: s.config.Version, FFmpeg: s.media.HasFFmpeg(), Now: s.config.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("server: build dashboard: %w", err)
	}
	described := sync.OnceValues(s.api.Reference) // it takes a while, and most gateways are never asked
	pages, err := dashboard.New(dashboard.Config{
		Site: site, Logger: s.config.Logger, Pulse: pulse, Users: s.use.users,
		Instances: s.use.instances, Messages: s.use.messages, Chats: s.use.chats, Labels: s.use.labels, Groups: s.use.groups, People: s.use.directory, Profiles: s.use.profiles, Channels: s.use.channels, Queue: s.use.messages.Queue(), Budgets: s.use.directory, Answers: s.use.messages, Traffic: s.use.traffic, Webhooks: s.use.webhooks, AccountWebhooks: s.use.accountWebhooks,
		Events: s.use.log, Access: s.use.access, Health: s.health,
		Reference: described, Origin: s.origin, Guard: guard, MaxMedia: cmp.Or(s.config.Media.MaxBytes, media.DefaultMaxBytes), Sandbox: s.sandbox != nil, Now: s.config.Now, Shares: shares,
	})
	if err != nil {
		return nil, fmt.Errorf("server: build dashboard: %w", err)
	}
	door, err := signin.New(signin.Config{
		Site: site, Logger: s.config.Logger, Users: s.use.users, SignIns: s.store.Users, Origin: s.origin,
		Address: s.address().Client, LinkCommand: s.config.LinkCommand, Sandbox: s.sandbox != nil, Now: s.config.Now, Shares: shares,
	})
	if err != nil {
		return nil, fmt.Errorf("server: build dashboard: %w", err)
	}
	// Documents are no secret, and long: their pages are compressed.
	docSite, err := web.NewSite(web.SiteConfig{Rooms: documents, Words: words, Assets: assets, Logger: s.config.Logger, Zip: true})
	if err != nil {
		return nil, fmt.Errorf("server: build dashboard: %w", err)
	}
	docPages, err := docpages.New(docpages.Config{
		Site: docSite, Logger: s.config.Logger, Users: s.use.users, Documents: docs.Guides, Reference: described, Origin: s.origin,
		Try:     &docpages.Try{Instances: s.use.instances, Keys: s.use.access, Sandbox: s.sandbox != nil, Now: s.config.Now},
		Sandbox: s.sandbox != nil, Shares: shares,
	})
	if err != nil {
		return nil, fmt.Errorf("server: build dashboard: %w", err)
	}
	behindDoor := door.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if docpages.Owns(r.URL.Path) {
			docPages.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	}))
	return web.Secure(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, web.AssetsPath) {
			assets.ServeHTTP(w, r)
			return
		}
		behindDoor.ServeHTTP(w, r)
	})), nil
}

// address is where clients reach the program.
func (s *Server) address() contract.Origin {
	return contract.Origin{PublicURL: s.config.PublicURL, BehindProxy: s.config.BehindProxy}
}

// origin is the address under which clients reach the API, as a request shows it.
func (s *Server) origin(r *http.Request) string {
	base, _ := s.address().BaseURL(r)
	return base
}

// isDashboard reports whether a path is the dashboard's, by its first part.
func isDashboard(name string) bool {
	if name == "/" {
		return true
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	if !slices.Contains([]string{"assets", "health", "instances", "keys", "webhooks"}, first) && !signin.Owns(name) && !docpages.Owns(name) {
		return false
	}
	return path.Clean(name) == strings.TrimSuffix(name, "/")
}

// withDashboard serves the dashboard's paths beside the API's.
func withDashboard(pages, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isDashboard(r.URL.Path) {
			pages.ServeHTTP(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	})
}
