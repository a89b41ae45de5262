// What the server opens before it runs: the data folder, the address, the databases,
// the connector.

package server

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/store/claim"
	"github.com/recado-project/recado/internal/whatsapp"
)

// Names in the data folder.
const (
	storeFile   = "recado.db"
	sandboxFile = "sandbox.db"
	tempFolder  = "tmp"
)

// ownerBytes is how long the name of a database is that owns files.
const ownerBytes = 16

// tempMode keeps what is decrypted from other users of the machine.
const tempMode = 0o700

// lock keeps a second process out of the data folder. Both would connect the same
// sessions, and the platform would disconnect them in turn.
func (s *Server) lock() error {
	release, err := claim.TakeFolder(s.config.DataDir)
	if errors.Is(err, claim.ErrFolderTaken) {
		return fmt.Errorf("server: the data folder %s is in use by another recado process", s.config.DataDir)
	}
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.onClose("lock", release)
	return nil
}

// openTemp empties the folder for the temporary files of every part, where a process that
// was killed may have left decrypted ones. It is in the data folder, so that the files
// are on the same disk and have the same protection.
func (s *Server) openTemp() error {
	s.tempDir = filepath.Join(s.config.DataDir, tempFolder)
	if err := os.RemoveAll(s.tempDir); err != nil {
		return fmt.Errorf("server: empty folder for temporary files: %w", err)
	}
	if err := os.Mkdir(s.tempDir, tempMode); err != nil {
		return fmt.Errorf("server: make folder for temporary files: %w", err)
	}
	return nil
}

// reserve takes the address. Nobody can connect to it before answer is called.
func (s *Server) reserve() error {
	where, err := net.ResolveTCPAddr("tcp", s.config.Listen)
	if err != nil {
		return fmt.Errorf("server: %w", &net.OpError{Op: "listen", Net: "tcp", Err: err})
	}
	listener, answer, err := reserve(where)
	if err != nil {
		return err
	}
	s.listener, s.answer = listener, answer
	s.onClose("listener", func() error {
		if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
	return nil
}

func (s *Server) openSandbox(ctx context.Context) error {
	if s.config.Sandbox == nil {
		return nil
	}
	config := *s.config.Sandbox
	if config.Path == "" {
		config.Path = filepath.Join(s.config.DataDir, sandboxFile)
	}
	config.Stopping, config.Home = s.stopping.Done(), "/"
	box, err := sandbox.New(ctx, config)
	if err != nil {
		return fmt.Errorf("server: open sandbox: %w", err)
	}
	s.sandbox = box
	s.onClose("sandbox", box.Close)
	rootKey := box.RootKey()
	s.config.Platform.PlatformURL = "ws://" + s.listener.Addr().String()
	s.config.Platform.RootKey = &rootKey
	return nil
}

// StoreConfig configures the store: a file in the data folder, or the PostgreSQL database
// of databaseURL if that is not empty.
func StoreConfig(dataDir, databaseURL string, logger *slog.Logger) store.Config {
	config := store.Config{URL: databaseURL, Logger: logger}
	if databaseURL == "" {
		config.Path = filepath.Join(dataDir, storeFile)
	}
	return config
}

func (s *Server) storeConfig() store.Config {
	config := StoreConfig(s.config.DataDir, s.config.DatabaseURL, s.config.Logger)
	config.Now, config.Master = s.config.Now, s.config.MasterKey
	return config
}

func (s *Server) openStore(ctx context.Context) error {
	if s.config.DatabaseURL != "" {
		take := claim.Take
		if s.config.Cluster.Advertise != "" {
			take = claim.Share
		}
		taken, err := take(ctx, s.config.DatabaseURL, s.config.Logger)
		if err != nil {
			return fmt.Errorf("server: %w", err)
		}
		s.claim = taken
		s.onClose("claim", taken.Close)
	}
	config := s.storeConfig()
	config.Bell, config.Fenced, config.Committed = &s.bell, s.config.DatabaseURL != "", s.watch.committed
	config.Migrating = s.isMigrating
	opened, err := store.Open(ctx, config)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.store = opened
	s.onClose("store", opened.Close)
	if err := s.clock.Follow(ctx, opened); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// openMedia opens the check of files to send, the store of fetched files, and the links
// to them.
func (s *Server) openMedia(ctx context.Context) error {
	config := s.config.Media
	config.Now, config.Logger = s.config.Now, s.config.Logger
	config.DenyFetch, config.TempDir = s.config.DenyFetch, s.tempDir
	config.Uploads = func(ctx context.Context, id string) (*media.Blob, error) { return s.use.uploads.Open(ctx, id) }
	service, err := media.New(config)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.media = service
	s.onClose("media", service.Close)
	if err := s.openBlobs(ctx); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	secret, err := s.store.Secret(ctx, "links", media.MinLinkSecret)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if s.links, err = media.NewLinks(media.LinksConfig{Blobs: s.blobs, Uploads: s.queuedFiles, Secret: secret, Now: s.config.Now}); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// openBlobs opens the place of files: of those that were fetched, and of those that wait to
// be sent.
func (s *Server) openBlobs(ctx context.Context) error {
	stores, err := s.openFileStores(ctx)
	if err != nil {
		return err
	}
	blobs := s.config.Blobs
	blobs.Store, blobs.Shared = stores.Fetched, s.config.MediaLocation.Shared()
	blobs.Now, blobs.Logger, blobs.RemovalTime = s.config.Now, s.config.Logger, s.clock.RemovalTime
	blobs.MaxFile = s.maxDownload()
	if s.blobs, err = media.OpenBlobs(ctx, blobs); err != nil {
		return errors.Join(err, stores.Queued.Close())
	}
	s.onClose("blobs", s.blobs.Close)
	// Nothing makes room there: these files were not sent yet, and uploads are nowhere else.
	queued := media.BlobsConfig{Store: stores.Queued, Shared: blobs.Shared, Now: s.config.Now, Logger: s.config.Logger}
	if s.queuedFiles, err = media.OpenBlobs(ctx, queued); err != nil {
		return err
	}
	s.onClose("queued files", s.queuedFiles.Close)
	return nil
}

// openFileStores opens the place of files. One that is shared is known by its owner's name, and so is
// the data folder if files were at another place before.
func (s *Server) openFileStores(ctx context.Context) (stores filestore.Stores, err error) {
	open := func(ctx context.Context, owner string, known bool) (bool, error) {
		if stores.Fetched != nil { // of an attempt that was not written
			if err := errors.Join(stores.Fetched.Close(), stores.Queued.Close()); err != nil {
				return false, err
			}
		}
		stores, err = s.config.MediaLocation.Open(ctx, filestore.Config{
			DataDir: s.config.DataDir, TempDir: s.tempDir, Owner: owner, Known: known, New: s.config.MediaLocationIsNew,
			Logger: s.config.Logger, Now: s.config.Now, Synced: s.watch.synced,
		})
		return stores.Owned, err
	}
	owner, known, err := s.store.FilesOwner(ctx)
	if err != nil {
		return stores, err
	}
	if known || !s.config.MediaLocation.Shared() {
		_, err = open(ctx, owner, known)
		return stores, err
	}
	name, err := s.store.Secret(ctx, "files", ownerBytes)
	if err != nil {
		return stores, err
	}
	return stores, s.store.OwnFiles(ctx, hex.EncodeToString(name), open)
}

// maxDownload is how large the file of a message may be.
func (s *Server) maxDownload() int64 { return cmp.Or(s.config.Blobs.MaxFile, DefaultMaxDownload) }

// openConnector opens the connector, which keeps the keys of linked devices in the store.
func (s *Server) openConnector(ctx context.Context) error {
	if err := s.importKeys(ctx); err != nil {
		return err
	}
	platform := s.config.Platform
	platform.Keys, platform.Logger, platform.Now = s.store.Devices, s.config.Logger, s.config.Now
	platform.MachineClock = s.clock.Machine
	platform.TempDir, platform.MaxMediaBytes = s.tempDir, s.maxDownload()
	if !s.config.AllowPrivateURLs {
		platform.ProxyGuard = outbound.NewGuard(s.config.DenyFetch).Control
	}
	connector, err := whatsapp.New(platform)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.connector = connector
	s.onClose("connector", func() error {
		connector.Close()
		return nil
	})
	return nil
}
