// The mailbox of a phone, and the workers that empty it.

package phone

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

const (
	// mailboxWorkers is how many phones work through their mailboxes at the same
	// time. They spend most of the time waiting for the shared commit.
	mailboxWorkers = 16
	mailboxPage    = 50

	// mailboxRetry is the pause after a failure of the database.
	mailboxRetry = time.Second
)

// mailboxWorker lets phones work through their mailboxes until ctx ends.
func (s *Service) mailboxWorker(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.config.Accounts.Mail.Signal:
		}
		for of := s.config.Accounts.Mail.Take(); of != nil && ctx.Err() == nil; of = s.config.Accounts.Mail.Take() {
			more, err := s.workMailbox(ctx, of)
			if err != nil && ctx.Err() == nil {
				s.config.Logger.LogAttrs(ctx, slog.LevelError, "a phone could not handle its mail", slog.Any("error", err))
				wire.Pause(ctx, mailboxRetry)
				more = true
			}
			s.config.Accounts.Mail.Release(of, more)
		}
	}
}

// mail is one stanza in a phone's mailbox.
type mail struct {
	seq    int64
	stanza waBinary.Node
}

// workMailbox lets a phone handle a page of its mailbox in one transaction. more
// reports whether there may be another page. Phones that are offline do nothing.
func (s *Service) workMailbox(ctx context.Context, of *account.Account) (more bool, err error) {
	if !of.IsOnline() {
		return false, nil
	}
	of.LockPhone()
	defer of.UnlockPhone()
	page, err := s.nextMail(ctx, of)
	if err != nil || len(page) == 0 {
		return false, err
	}
	u := s.config.Accounts.NewUnit()
	phone := s.openPhone(u, of)
	for _, m := range page {
		if err := phone.receive(ctx, m.stanza); err != nil {
			return false, err
		}
		u.Exec("DELETE FROM mailbox WHERE seq = $1", m.seq)
	}
	if err := u.Commit(ctx); err != nil {
		return false, err
	}
	return len(page) == mailboxPage, nil
}

func (s *Service) nextMail(ctx context.Context, of *account.Account) (page []mail, err error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		"SELECT seq, stanza FROM mailbox WHERE number = $1 ORDER BY seq LIMIT $2", of.Number, mailboxPage)
	if err != nil {
		return nil, fmt.Errorf("phone: read mailbox: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var m mail
		var encoded []byte
		if err := rows.Scan(&m.seq, &encoded); err != nil {
			return nil, fmt.Errorf("phone: read mailbox: %w", err)
		}
		if m.stanza, err = wire.DecodeStanza(encoded); err != nil {
			return nil, err
		}
		page = append(page, m)
	}
	return page, rows.Err()
}
