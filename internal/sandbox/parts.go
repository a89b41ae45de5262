// The parts of a sandbox: how they are made, restored and closed.

package sandbox

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/addressbook"
	"github.com/recado-project/recado/internal/sandbox/call"
	"github.com/recado-project/recado/internal/sandbox/channel"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/chatstate"
	"github.com/recado-project/recado/internal/sandbox/control"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/label"
	"github.com/recado-project/recado/internal/sandbox/link"
	"github.com/recado-project/recado/internal/sandbox/load"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/noise"
	"github.com/recado-project/recado/internal/sandbox/page"
	"github.com/recado-project/recado/internal/sandbox/passkey"
	"github.com/recado-project/recado/internal/sandbox/phone"
	"github.com/recado-project/recado/internal/sandbox/prekey"
	"github.com/recado-project/recado/internal/sandbox/presence"
	"github.com/recado-project/recado/internal/sandbox/profile"
	"github.com/recado-project/recado/internal/sandbox/receipt"
	"github.com/recado-project/recado/internal/sandbox/session"
	"github.com/recado-project/recado/internal/sandbox/setting"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// mediaFolder is a folder beside the database, for the files of the media host and
// of phones.
const mediaFolder = "sandbox-media"

// open opens the database and the files beside it.
func (s *Server) open(ctx context.Context) error {
	var err error
	if s.db, err = database.Open(ctx, s.config.Path); err != nil {
		return err
	}
	seed, err := database.RootSeed(ctx, s.db, s.config.Seed)
	if err != nil {
		return err
	}
	if s.authority, err = noise.NewAuthority(seed, s.config.Now()); err != nil {
		return err
	}
	folder := filepath.Join(filepath.Dir(s.config.Path), mediaFolder)
	if s.media, err = mediahost.New(filepath.Join(folder, "host")); err != nil {
		return err
	}
	s.files, err = account.OpenFiles(filepath.Join(folder, "phones"))
	return err
}

// compose creates the services. Each one gets those that it calls.
func (s *Server) compose() error {
	cfg := s.config
	accounts := account.NewDirectory(s.db, cfg.Now)
	holders := account.NewHolders(accounts, cfg.Load)
	settings := setting.New(setting.Config{Accounts: accounts, Actions: chatstate.Actions(), Logger: cfg.Logger})
	preKeys := prekey.New(accounts, cfg.Load)
	unknown := wire.NewCounter()
	if cfg.Load {
		s.load = load.New(load.Config{Accounts: accounts, ReadDelay: cfg.ReadDelay, Logger: cfg.Logger})
	}
	s.Bell = accounts.Bell
	s.Activities = account.NewActivityLog(accounts)
	s.Groups = group.NewBook(accounts, s.files)
	chats := chat.Finder{Accounts: accounts, Groups: s.Groups}
	states := chatstate.New(chats, settings)
	receipts := receipt.New(receipt.Config{Accounts: accounts, Activities: s.Activities, Load: cfg.Load})
	s.Presences = presence.New(chats, s.Activities)
	passkeys := passkey.New(accounts, cfg.PasskeyName)
	s.Linking = link.New(link.Config{Accounts: accounts, Settings: settings, Holders: holders, Passkeys: passkeys})
	s.Faults = fault.New(s.connections, accounts.Bell, cfg.Logger)
	channels := channel.New(accounts, s.files, s.media, profile.PicturePath)
	s.Profiles = profile.New(profile.Config{
		Accounts: accounts, Groups: s.Groups, Settings: settings, Presences: s.Presences, Holders: holders,
		Activities: s.Activities, Files: s.files, Unknown: unknown, Queries: channels.Queries(), Logger: cfg.Logger,
	})
	book := addressbook.New(accounts, settings)
	s.Phones = phone.New(phone.Config{
		Accounts: accounts, Chats: chats, Audience: book.Audience, PreKeys: preKeys, Receipts: receipts, Settings: settings,
		Activities: s.Activities, Media: s.media, Files: s.files, Load: s.load, ReadDelay: cfg.ReadDelay, Logger: cfg.Logger,
	})
	s.Calls = call.New(chats, s.Activities)
	s.Sessions = session.New(session.Config{
		Accounts: accounts, Groups: s.Groups, Linking: s.Linking, Presences: s.Presences, Receipts: receipts,
		Faults: s.Faults, Load: s.load, Authority: s.authority, Connections: s.connections,
		Logger: cfg.Logger, Unknown: unknown, Welcome: s.Phones.Greet, Call: s.Calls.Take, Rename: s.Profiles.Rename, Channel: channels.Take,
		Requests: []map[string]account.Handler{
			preKeys.Requests(), s.Profiles.Requests(), settings.Requests(), s.Linking.Requests(), s.Groups.Requests(), channels.Requests(),
		},
	})
	guard := outbound.NewGuard(nil)
	if cfg.AllowPrivateURLs {
		guard = nil
	}
	s.control = control.New(control.Config{
		Phones: s.Phones, Profiles: s.Profiles, Groups: s.Groups, Linking: s.Linking, Presences: s.Presences,
		Sessions: s.Sessions, Faults: s.Faults, Activities: s.Activities, Accounts: accounts, Passkeys: passkeys,
		ChatStates: states, AddressBook: book, Labels: label.New(chats, settings), Settings: settings, Channels: channels, Calls: s.Calls,
		RootKey: s.RootKey(), Guard: guard, Now: cfg.Now, Logger: cfg.Logger,
	})
	var err error
	s.page, err = page.New(page.Config{
		Phones: s.Phones, Calls: s.Calls, Profiles: s.Profiles, ChatStates: states, Groups: s.Groups, Linking: s.Linking, Passkeys: passkeys, Presences: s.Presences,
		Sessions: s.Sessions, Faults: s.Faults, Activities: s.Activities, Bell: s.Bell,
		Now: cfg.Now, Logger: cfg.Logger, Stopping: cfg.Stopping, Home: cfg.Home, Load: cfg.Load,
	})
	return err
}

// restore continues the work of the last process, and deletes records that are too
// old to be needed.
func (s *Server) restore(ctx context.Context) error {
	if err := database.ClearOld(ctx, s.db, s.config.Now()); err != nil {
		return err
	}
	return s.Phones.Restore(ctx)
}

// closeAll closes the database and the files that are open.
func (s *Server) closeAll() error {
	var err error
	if s.db != nil {
		err = s.db.Close()
	}
	if s.media != nil {
		err = errors.Join(err, s.media.Close())
	}
	if s.files != nil {
		err = errors.Join(err, s.files.Close())
	}
	return err
}
