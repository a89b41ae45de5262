// Package health says how the program itself is doing, for the people who run it: what it
// stands on, and what is slow or full.
package health

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/webhook"
)

// patience is how long the database may take to answer.
const patience = 2 * time.Second

// Database is the program's database.
type Database interface {
	Kind() string
	Ping(ctx context.Context) error
	Size(ctx context.Context) (int64, error)
}

// Files is the store of fetched files.
type Files interface {
	Used() (used, limit int64)
}

// Webhooks knows how all deliveries are doing.
type Webhooks interface {
	Summarize() webhook.Summary
}

// Config is what a Service looks at. The first part is required.
type Config struct {
	Database Database
	Files    Files
	Webhooks Webhooks
	DataDir  string // the folder of files and, with SQLite, of the database
	Logger   *slog.Logger
	// ClientVersion says which version of the messenger's web client is claimed.
	ClientVersion func() gateway.ClientVersion

	Version string
	FFmpeg  bool             // media are measured and converted with ffmpeg
	Now     func() time.Time // nil: the wall clock
}

// Service looks at the program. It is safe for concurrent use.
type Service struct {
	config  Config
	started time.Time
	free    func(folder string) (free, all int64, err error)
}

// New makes the service. The program counts as started now.
func New(config Config) (*Service, error) {
	if err := required.Check("health", config, "Now"); err != nil {
		return nil, err
	}
	if config.DataDir == "" {
		return nil, errors.New("health: the configuration lacks DataDir")
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Service{config: config, started: config.Now(), free: DiskSpace}, nil
}

// Report is how the program is doing at a moment.
type Report struct {
	Version  string
	Started  time.Time
	Uptime   time.Duration
	Database DatabaseReport
	Disk     DiskReport
	Files    FilesReport
	Webhooks webhook.Summary
	FFmpeg   bool
	Client   gateway.ClientVersion // of the messenger's web client
	Problems []Problem             // the most urgent first; empty if there are none
}

// DatabaseReport is how the database is doing.
type DatabaseReport struct {
	Kind     string // SQLite or PostgreSQL
	Size     int64  // in bytes; 0 if it is not known
	Answered bool
	Ping     time.Duration // how long the answer took
}

// DiskReport is the space on the disk of the data folder, in bytes.
type DiskReport struct {
	Folder    string
	Free, All int64 // 0 and 0 if they are not known
}

// FilesReport is the space that fetched files take, in bytes.
type FilesReport struct {
	Used, Limit int64 // a limit of 0 means none
}

// Report looks at everything. What can't be found out is left out and logged.
func (s *Service) Report(ctx context.Context) Report {
	now := s.config.Now()
	report := Report{
		Version: s.config.Version, Started: s.started, Uptime: now.Sub(s.started),
		Database: s.database(ctx), Disk: DiskReport{Folder: s.config.DataDir},
		Webhooks: s.config.Webhooks.Summarize(), FFmpeg: s.config.FFmpeg, Client: s.config.ClientVersion(),
	}
	report.Files.Used, report.Files.Limit = s.config.Files.Used()
	var err error
	if report.Disk.Free, report.Disk.All, err = s.free(s.config.DataDir); err != nil {
		s.config.Logger.WarnContext(ctx, "space on the disk not known", slog.Any("error", err))
	}
	report.Problems = problemsOf(report)
	return report
}

func (s *Service) database(ctx context.Context) DatabaseReport {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	report := DatabaseReport{Kind: s.config.Database.Kind()}
	began := s.config.Now()
	err := s.config.Database.Ping(ctx)
	report.Ping, report.Answered = s.config.Now().Sub(began), err == nil
	if err == nil {
		report.Size, err = s.config.Database.Size(ctx)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.config.Logger.ErrorContext(ctx, "database does not answer", slog.Any("error", err))
	}
	return report
}
