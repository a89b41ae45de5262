package platform

import (
	"context"
	"strconv"
	"sync"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// maxAcquaintances bounds how many phones see whether an account is online, and
// how many devices follow one phone.
const maxAcquaintances = 5000

// presences knows who is online and who wants to know. It lives in memory:
// after a restart clients say again what they want.
type presences struct {
	mu            sync.Mutex
	acquaintances map[*account]map[*account]struct{} // the phones that see an account
	followers     map[*account]map[*device]struct{}  // the devices that follow an account
	phones        map[*account]phonePresence
}

// phonePresence is what a phone shows of itself.
type phonePresence struct {
	available bool
	last      time.Time
}

// presenceState is what a connection has said about itself. It belongs to the
// reader until the connection ends.
type presenceState struct{ available bool }

func newPresences() *presences {
	return &presences{
		acquaintances: map[*account]map[*account]struct{}{},
		followers:     map[*account]map[*device]struct{}{},
		phones:        map[*account]phonePresence{},
	}
}

// acquaint lets the phone of seer see whether the account is online: it was
// looked up, or written to.
func (p *presences) acquaint(of, seer *account) {
	if of == seer {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.acquaintances[of]
	if known == nil {
		known = map[*account]struct{}{}
		p.acquaintances[of] = known
	}
	if len(known) < maxAcquaintances {
		known[seer] = struct{}{}
	}
}

func (p *presences) follow(of *account, by *device) phonePresence {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.followers[of]
	if known == nil {
		known = map[*device]struct{}{}
		p.followers[of] = known
	}
	if len(known) < maxAcquaintances {
		known[by] = struct{}{}
	}
	return p.phones[of]
}

// audience returns the phones that see the account, and the devices that follow
// it.
func (p *presences) audience(of *account) (phones []*account, devices []*device) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for seer := range p.acquaintances[of] {
		phones = append(phones, seer)
	}
	for follower := range p.followers[of] {
		devices = append(devices, follower)
	}
	return phones, devices
}

// set keeps what a phone shows of itself.
func (p *presences) set(of *account, available bool, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phones[of] = phonePresence{available: available, last: now}
}

// onPresence handles what a client says about being online, or its wish to
// follow somebody.
func (c *connection) onPresence(ctx context.Context, n waBinary.Node) error {
	switch attrString(n, "type") {
	case "subscribe":
		to := attrJID(n, "to")
		of, err := c.s.directory.byJID(ctx, to)
		if err != nil || of == nil || !of.isRegistered() {
			return err
		}
		c.s.presences.acquaint(c.device.account, of)
		state := c.s.presences.follow(of, c.device)
		return c.send(ctx, presenceNode(of.address(to), state.available, state.last))
	case "available":
		c.announce(true)
	case "unavailable":
		c.announce(false)
	case "":
		// A name alone says nothing about being online.
		if name := attrString(n, "name"); name != "" && name != c.device.account.displayName() {
			return c.s.rename(ctx, c.device.account, name)
		}
	}
	return nil
}

// announce tells those who see the account that a device of it is online.
func (c *connection) announce(available bool) {
	c.presence.available = available
	value := string(types.PresenceUnavailable)
	if available {
		value = string(types.PresenceAvailable)
	}
	of := c.device.account
	phones, devices := c.s.presences.audience(of)
	for _, seer := range phones {
		c.s.activities.add(seer, activity("presence", of, seer, value))
	}
	for _, follower := range devices {
		follower.offer(presenceNode(of.lidJID(), available, c.s.now()))
	}
}

// connectionLost does what follows when a device goes offline.
func (s *Server) connectionLost(c *connection) {
	if c.presence.available {
		c.announce(false)
	}
}

// offer sends a stanza to the device if it is connected and takes part.
func (d *device) offer(n waBinary.Node) {
	if c := d.conn.Load(); c != nil && c.isActive() {
		c.offer(n)
	}
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

// onChatState passes on that a client types or records.
func (c *connection) onChatState(ctx context.Context, n waBinary.Node) error {
	where, ok, err := c.s.chatAt(ctx, attrJID(n, "to"))
	if err != nil || !ok || len(n.GetChildren()) != 1 {
		return err
	}
	if where.person != nil {
		c.s.presences.acquaint(c.device.account, where.person)
	}
	return c.s.chatState(ctx, c.device.account, where, n.GetChildren()[0])
}

// chatState shows on the phones of a chat, and on their linked devices, that
// somebody types there.
func (s *Server) chatState(ctx context.Context, from *account, where chat, state waBinary.Node) error {
	value := state.Tag
	if value == string(types.ChatPresenceComposing) && attrString(state, "media") == string(types.ChatPresenceMediaAudio) {
		value = "recording"
	}
	seers := []*account{where.person}
	attrs := waBinary.Attrs{"from": from.lidJID(), "sender_pn": from.shownPN()}
	if where.group != nil {
		var err error
		if seers, err = s.people(ctx, where.group); err != nil || !where.group.has(from) {
			return err
		}
		attrs = waBinary.Attrs{"from": where.group.jid(), "participant": from.lidJID(), "participant_pn": from.shownPN(), "addressing_mode": "lid"}
	}
	for _, to := range seers {
		if (to == from && where.group != nil) || to.blocks(from) {
			continue
		}
		entry := activity("chatstate", from, to, value)
		if where.group != nil {
			entry.To = where.group.jid().String()
		}
		s.activities.add(to, entry)
		for _, linked := range to.companions() {
			linked.offer(waBinary.Node{
				Tag: "chatstate", Attrs: attrs,
				Content: []waBinary.Node{{Tag: state.Tag, Attrs: waBinary.Attrs{"media": state.Attrs["media"]}}},
			})
		}
	}
	return nil
}

// SetPresence shows to whom the phone writes, or that it is online. presence is
// available, unavailable, composing, recording or paused. Unlike on the real
// platform, whoever is named gets to see it without having asked for it.
func (s *Server) SetPresence(ctx context.Context, number, to, presence string) error {
	from, err := s.phoneOf(ctx, number)
	if err != nil {
		return err
	}
	where, err := s.chatNamed(ctx, "to", to)
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
		other := where.person
		if other == nil {
			return invalidf("to", "must be a person")
		}
		available := presence == "available"
		s.presences.set(from, available, s.now())
		s.activities.add(other, activity("presence", from, other, presence))
		told := map[*device]struct{}{}
		_, devices := s.presences.audience(from)
		for _, d := range append(devices, other.companions()...) {
			if _, twice := told[d]; !twice {
				told[d] = struct{}{}
				d.offer(presenceNode(from.lidJID(), available, s.now()))
			}
		}
	default:
		return invalidf("presence", "must be one of available, unavailable, composing, recording, paused")
	}
	return nil
}
