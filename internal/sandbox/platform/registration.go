package platform

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
)

const (
	refCount = 6

	// A client shows the first code for a minute and the others for twenty
	// seconds each. The grace is for a person who scans at the last moment.
	firstRefLife = 60 * time.Second
	nextRefLife  = 20 * time.Second
	refGrace     = 5 * time.Second
	linkingLife  = firstRefLife + (refCount-1)*nextRefLife + refGrace
)

var errRegistration = errors.New("platform: malformed registration")

// registration is what a client says about itself before it is linked: its
// first Signal keys.
type registration struct {
	registrationID uint32
	identity       [32]byte
	signedPreKeyID uint32
	signedPreKey   [32]byte
	signature      [64]byte
}

func parseRegistration(data *waWa6.ClientPayload_DevicePairingRegistrationData) (registration, error) {
	var r registration
	if len(data.GetERegid()) != 4 || len(data.GetESkeyID()) != 3 {
		return r, fmt.Errorf("%w: wrong size of an id", errRegistration)
	}
	r.registrationID = binary.BigEndian.Uint32(data.GetERegid())
	r.signedPreKeyID = uint24(data.GetESkeyID())
	if copy(r.identity[:], data.GetEIdent()) != len(r.identity) || len(data.GetEIdent()) != len(r.identity) ||
		len(data.GetESkeyVal()) != len(r.signedPreKey) || len(data.GetESkeySig()) != len(r.signature) {
		return r, fmt.Errorf("%w: wrong size of a key", errRegistration)
	}
	copy(r.signedPreKey[:], data.GetESkeyVal())
	copy(r.signature[:], data.GetESkeySig())
	return r, nil
}

// linkState is what a connection knows while it waits to be linked.
type linkState struct {
	keys   registration
	refs   []string
	issued time.Time
	busy   sync.Mutex // held by the phone that links it
	linked bool       // guarded by busy
	mu     sync.Mutex
	hello  *codeHello      // the code it shows, nil if it shows none
	finish chan codeFinish // the client's answer to a typed code
}

// register offers an unlinked client codes to be scanned.
func (c *connection) register(ctx context.Context) error {
	keys, err := parseRegistration(c.noise.Payload().GetDevicePairingData())
	if err != nil {
		return err
	}
	if c.s.faults.current().Outdated {
		return c.refuse(ctx, failure(failureOutdated))
	}
	refs := make([]string, refCount)
	content := make([]waBinary.Node, refCount)
	for i := range refs {
		if refs[i], err = newRef(); err != nil {
			return err
		}
		content[i] = waBinary.Node{Tag: "ref", Content: []byte(refs[i])}
	}
	c.linking.keys, c.linking.refs, c.linking.issued = keys, refs, c.s.now()
	c.linking.finish = make(chan codeFinish, 1)
	c.s.pending.add(c)
	c.delayed.Go(func() { c.cutAfter(ctx, linkingLife) })
	return c.send(ctx, waBinary.Node{
		Tag:     "iq",
		Attrs:   waBinary.Attrs{"from": types.ServerJID, "type": "set", "id": newID(), "xmlns": "md"},
		Content: []waBinary.Node{{Tag: "pair-device", Content: content}},
	})
}

// cutAfter ends the connection after a while, unless it ends before.
func (c *connection) cutAfter(ctx context.Context, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		c.cut()
	case <-ctx.Done():
	}
}

// current reports whether the ref is one of those the client may still show.
func (l *linkState) current(ref string, now time.Time) bool {
	for i, issued := range l.refs {
		if issued == ref {
			return now.Before(l.issued.Add(firstRefLife + time.Duration(i)*nextRefLife + refGrace))
		}
	}
	return false
}

// pendings knows the connections that wait to be linked.
type pendings struct {
	mu    sync.Mutex
	byRef map[string]*connection
}

func newPendings() *pendings { return &pendings{byRef: map[string]*connection{}} }

func (p *pendings) add(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ref := range c.linking.refs {
		p.byRef[ref] = c
	}
}

func (p *pendings) remove(c *connection) {
	c.waiting.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ref := range c.linking.refs {
		delete(p.byRef, ref)
	}
}

// find returns the connection that shows the ref, nil if there is none.
func (p *pendings) find(ref string, now time.Time) *connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.byRef[ref]
	if c == nil || !c.linking.current(ref, now) {
		return nil
	}
	return c
}

// all returns the connections that wait to be linked.
func (p *pendings) all() []*connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*connection
	for ref, c := range p.byRef {
		if ref == c.linking.refs[0] {
			list = append(list, c)
		}
	}
	return list
}

// newRef draws a reference. It holds no comma, which separates a code's parts.
func newRef() (string, error) {
	var raw [24]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return "", fmt.Errorf("platform: draw reference: %w", err)
	}
	return "2@" + base64.RawURLEncoding.EncodeToString(raw[:]), nil
}

func uint24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

func bytes24(v uint32) []byte { return []byte{byte(v >> 16), byte(v >> 8), byte(v)} } //nolint:gosec // the low three bytes are meant
