// A client that waits to be linked, and the codes that it is offered.

package link

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/wire"
)

const (
	refCount = 6

	// A client shows the first code for a minute and each of the others for twenty
	// seconds. The grace period is for people who scan at the last moment.
	firstRefLife = 60 * time.Second
	nextRefLife  = 20 * time.Second
	refGrace     = 5 * time.Second
	linkingLife  = firstRefLife + (refCount-1)*nextRefLife + refGrace
)

var errRegistration = errors.New("link: malformed registration")

// Registration has the first Signal keys of a client, which it sends before it is
// linked.
type Registration struct {
	registrationID uint32
	identity       [32]byte
	signedPreKeyID uint32
	signedPreKey   [32]byte
	signature      [64]byte
	name, kind     string // what the phone shows of the device
}

// ParseRegistration reads the registration data of a client.
func ParseRegistration(data *waWa6.ClientPayload_DevicePairingRegistrationData) (Registration, error) {
	var r Registration
	if len(data.GetERegid()) != 4 || len(data.GetESkeyID()) != 3 {
		return r, fmt.Errorf("%w: wrong size of an id", errRegistration)
	}
	r.registrationID = binary.BigEndian.Uint32(data.GetERegid())
	r.signedPreKeyID = wire.Uint24(data.GetESkeyID())
	if copy(r.identity[:], data.GetEIdent()) != len(r.identity) || len(data.GetEIdent()) != len(r.identity) ||
		len(data.GetESkeyVal()) != len(r.signedPreKey) || len(data.GetESkeySig()) != len(r.signature) {
		return r, fmt.Errorf("%w: wrong size of a key", errRegistration)
	}
	var shown waCompanionReg.DeviceProps
	if err := proto.Unmarshal(data.GetDeviceProps(), &shown); err != nil {
		return r, fmt.Errorf("%w: the device's properties: %w", errRegistration, err)
	}
	r.name, r.kind = strings.ToValidUTF8(shown.GetOs(), ""), shown.GetPlatformType().String()
	copy(r.signedPreKey[:], data.GetESkeyVal())
	copy(r.signature[:], data.GetESkeySig())
	return r, nil
}

// Candidate is a client that waits to be linked.
type Candidate struct {
	Connection *wire.Connection

	keys   Registration
	refs   []string        // of the QR codes, in the order in which the client shows them
	issued time.Time       // when the client got the refs
	busy   sync.Mutex      // held while a phone links the client
	linked bool            // guarded by busy
	mu     sync.Mutex      // guards hello and asked
	hello  *codeHello      // the first step of linking by code, nil if the client shows no code
	asked  *ceremony       // the question for a passkey, nil if there is none
	finish chan codeFinish // the client's answer to a typed code
}

// Offer sends a client the references for its QR codes, and adds it to those that
// wait to be linked. The client is cut off when the last code has expired.
func (s *Service) Offer(ctx context.Context, c *wire.Connection, keys Registration) (*Candidate, error) {
	refs := make([]string, refCount)
	content := make([]waBinary.Node, refCount)
	for i := range refs {
		ref, err := newRef()
		if err != nil {
			return nil, err
		}
		refs[i] = ref
		content[i] = waBinary.Node{Tag: "ref", Content: []byte(refs[i])}
	}
	waiting := &Candidate{Connection: c, keys: keys, refs: refs, issued: s.now(), finish: make(chan codeFinish, 1)}
	s.add(waiting)
	c.Go(func() { s.cutAfterCodes(ctx, waiting) })
	return waiting, c.Send(ctx, waBinary.Node{
		Tag:     "iq",
		Attrs:   waBinary.Attrs{"from": types.ServerJID, "type": "set", "id": wire.NewID(), "xmlns": "md"},
		Content: []waBinary.Node{{Tag: "pair-device", Content: content}},
	})
}

// current reports whether the client may still show the ref.
func (c *Candidate) current(ref string, now time.Time) bool {
	for i, issued := range c.refs {
		if issued == ref {
			return now.Before(c.issued.Add(firstRefLife + time.Duration(i)*nextRefLife + refGrace))
		}
	}
	return false
}

// newRef draws a reference, the first part of a code. It has no comma, because
// commas separate the parts.
func newRef() (string, error) {
	var raw [24]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return "", fmt.Errorf("link: draw reference: %w", err)
	}
	return "2@" + base64.RawURLEncoding.EncodeToString(raw[:]), nil
}
