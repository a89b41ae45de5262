// Package presence shows people who is online and who is typing.
package presence

import (
	"context"
	"strconv"
	"sync"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// maxAcquaintances bounds the phones that see an account's presence, and the
// devices that subscribe to it.
const maxAcquaintances = 5000

// Service knows who is online and who has subscribed to whom. It keeps that in
// memory, because clients subscribe again after a restart. It is safe for
// concurrent use.
type Service struct {
	accounts   *account.Directory
	chats      chat.Finder
	activities *account.ActivityLog
	now        func() time.Time

	mu            sync.Mutex
	acquaintances map[*account.Account]map[*account.Account]struct{} // the phones that see an account
	followers     map[*account.Account]map[*account.Device]struct{}  // the devices that follow an account
	phones        map[*account.Account]phonePresence
}

// phonePresence is the presence of a phone, which a caller has set.
type phonePresence struct {
	available bool
	last      time.Time
}

// New returns the service.
func New(chats chat.Finder, activities *account.ActivityLog) *Service {
	return &Service{
		accounts: chats.Accounts, chats: chats, activities: activities, now: chats.Accounts.Now,

		acquaintances: map[*account.Account]map[*account.Account]struct{}{},
		followers:     map[*account.Account]map[*account.Device]struct{}{},
		phones:        map[*account.Account]phonePresence{},
	}
}

// Acquaint lets the phone of seer see the account's presence. Accounts become
// acquainted when one looks the other up or writes to it.
func (s *Service) Acquaint(of, seer *account.Account) {
	if of == seer {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.acquaintances[of]
	if known == nil {
		known = map[*account.Account]struct{}{}
		s.acquaintances[of] = known
	}
	if len(known) < maxAcquaintances {
		known[seer] = struct{}{}
	}
}

func (s *Service) follow(of *account.Account, by *account.Device) phonePresence {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.followers[of]
	if known == nil {
		known = map[*account.Device]struct{}{}
		s.followers[of] = known
	}
	if len(known) < maxAcquaintances {
		known[by] = struct{}{}
	}
	return s.phones[of]
}

// audience returns the phones that see the account's presence, and the devices that
// have subscribed to it.
func (s *Service) audience(of *account.Account) (phones []*account.Account, devices []*account.Device) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for seer := range s.acquaintances[of] {
		phones = append(phones, seer)
	}
	for follower := range s.followers[of] {
		devices = append(devices, follower)
	}
	return phones, devices
}

// keep sets the presence of a phone.
func (s *Service) keep(of *account.Account, available bool, now time.Time) {
	defer s.accounts.Bell.Ring(of.Number)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phones[of] = phonePresence{available: available, last: now}
}

// Subscribe subscribes a device to somebody's presence, and returns the presence to
// send to it. ok is false if there is no such account.
func (s *Service) Subscribe(ctx context.Context, by *account.Device, to types.JID) (shown waBinary.Node, ok bool, err error) {
	of, err := s.accounts.ByJID(ctx, to)
	if err != nil || of == nil || !of.IsRegistered() {
		return shown, false, err
	}
	s.Acquaint(by.Account, of)
	state := s.follow(of, by)
	return s.shown(ctx, of, by.Account, of.Address(to), state)
}

// Announce shows that a device of the account went online or offline.
func (s *Service) Announce(ctx context.Context, of *account.Account, available bool) error {
	value := string(types.PresenceUnavailable)
	if available {
		value = string(types.PresenceAvailable)
	}
	phones, devices := s.audience(of)
	for _, seer := range phones {
		lets, err := s.accounts.Lets(ctx, of, account.PrivacyOnline, seer)
		if err != nil {
			return err
		}
		if lets {
			s.activities.Add(seer, account.NewActivity("presence", of, seer, value))
		}
	}
	return s.offer(ctx, of, devices, phonePresence{available: available, last: s.now()})
}

// offer shows devices a presence, as far as the account lets them see it.
func (s *Service) offer(ctx context.Context, of *account.Account, devices []*account.Device, state phonePresence) error {
	for _, follower := range devices {
		node, lets, err := s.shown(ctx, of, follower.Account, of.LIDJID(), state)
		if err != nil {
			return err
		}
		if lets {
			follower.Offer(node)
		}
	}
	return nil
}

// shown is what somebody sees of a presence; lets is false for nothing.
func (s *Service) shown(ctx context.Context, of, seer *account.Account, address types.JID, state phonePresence) (node waBinary.Node, lets bool, err error) {
	if lets, err = s.accounts.Lets(ctx, of, account.PrivacyOnline, seer); err != nil || !lets {
		return node, false, err
	}
	seen, err := s.accounts.Lets(ctx, of, account.PrivacyLastSeen, seer)
	if !seen {
		state.last = time.Time{}
	}
	return presenceNode(address, state.available, state.last), true, err
}

func presenceNode(from types.JID, available bool, last time.Time) waBinary.Node {
	n := waBinary.Node{Tag: "presence", Attrs: waBinary.Attrs{"from": from}}
	if !available {
		n.Attrs["type"] = string(types.PresenceUnavailable)
		if last.IsZero() {
			n.Attrs["last"] = "deny"
		} else {
			n.Attrs["last"] = strconv.FormatInt(last.Unix(), 10)
		}
	}
	return n
}

// Set shows a person or a group that the phone is typing, or a person that it is
// online. presence is available, unavailable, composing, recording or paused.
// Unlike on the real platform, the person sees it without a subscription. Without a person,
// those who have subscribed see whether it is online.
func (s *Service) Set(ctx context.Context, number, to, presence string) error {
	from, err := s.accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	if available := presence == "available"; to == "" && (available || presence == "unavailable") {
		s.keep(from, available, s.now())
		return s.Announce(ctx, from, available)
	}
	where, err := s.chats.Named(ctx, "to", to)
	if err != nil {
		return err
	}
	switch presence {
	case "composing", "paused":
		return s.chatState(ctx, from, where, waBinary.Node{Tag: presence})
	case "recording":
		return s.chatState(ctx, from, where, waBinary.Node{
			Tag: string(types.ChatPresenceComposing), Attrs: waBinary.Attrs{"media": string(types.ChatPresenceMediaAudio)},
		})
	case "available", "unavailable":
		other := where.Person
		if other == nil {
			return refusal.Invalidf("to", "must be a person")
		}
		available := presence == "available"
		s.keep(from, available, s.now())
		s.activities.Add(other, account.NewActivity("presence", from, other, presence))
		seen := map[*account.Device]struct{}{}
		_, devices := s.audience(from)
		var once []*account.Device
		for _, d := range append(devices, other.Companions()...) {
			if _, twice := seen[d]; !twice {
				seen[d] = struct{}{}
				once = append(once, d)
			}
		}
		return s.offer(ctx, from, once, phonePresence{available: available, last: s.now()})
	default:
		return refusal.Invalidf("presence", "must be one of available, unavailable, composing, recording, paused")
	}
}
