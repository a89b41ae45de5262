package phone

import (
	"context"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/appstate"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// Greet lets the phone send a linked device what it needs, once: the key of the app
// state, and the history.
func (s *Service) Greet(ctx context.Context, linked *account.Device) error {
	if linked.Bootstrapped.Swap(true) {
		return nil
	}
	u := s.config.Accounts.NewUnit()
	u.Exec("UPDATE devices SET bootstrapped = 1 WHERE number = $1 AND device = $2", linked.Account.Number, linked.ID)
	if err := u.ToPhone(linked.Account, waBinary.Node{
		Tag: stanzaWelcome, Attrs: waBinary.Attrs{"device": int(linked.ID)},
	}); err != nil {
		return err
	}
	if err := u.Commit(ctx); err != nil {
		linked.Bootstrapped.Store(false)
		return err
	}
	return nil
}

// welcome sends a new device the key of the app state, and the history.
func (p *phone) welcome(ctx context.Context, n waBinary.Node) error {
	linked := p.Account.Companion(uint16(wire.AttrInt(n, "device"))) //nolint:gosec // written by Server.welcome
	if linked == nil {
		return nil
	}
	if err := p.shareAppStateKey(ctx, linked); err != nil {
		return err
	}
	bootstrap, err := p.buildHistory(ctx)
	if err != nil {
		return err
	}
	names, err := appstate.PushNames([]appstate.PushName{{JID: p.Account.PN().String(), Name: p.Account.DisplayName()}})
	if err != nil {
		return fmt.Errorf("phone: build history: %w", err)
	}
	recent, err := appstate.Recent()
	if err != nil {
		return fmt.Errorf("phone: build history: %w", err)
	}
	for _, message := range []*waE2E.Message{bootstrap, names, recent} {
		if err := p.sendPeer(ctx, linked, message); err != nil {
			return err
		}
	}
	return nil
}

// shareAppStateKey sends the key of the app state to a linked device.
func (p *phone) shareAppStateKey(ctx context.Context, to *account.Device) error {
	key, ok, err := p.s.config.Settings.Key(ctx, p.Account)
	if err != nil || !ok {
		return err
	}
	return p.sendPeer(ctx, to, appstate.KeyShareMessage(key))
}

// sendPeer sends a message that is for a linked device itself, not for a chat.
func (p *phone) sendPeer(ctx context.Context, to *account.Device, message *waE2E.Message) error {
	return p.encryptFor(ctx, to, phoneMessage{
		id: wire.NewMessageID(), chat: chat.Chat{Person: p.Account}, at: p.s.now().Unix(), message: message, peer: true,
	}, 0)
}
