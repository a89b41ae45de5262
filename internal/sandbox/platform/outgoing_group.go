package platform

import (
	"context"
	"fmt"
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/signal"
)

// distributeToGroup brings a message to every device of every member. It is
// encrypted once; a device that has not got the key gets it on the way.
func (p *phone) distributeToGroup(ctx context.Context, out phoneMessage) error {
	g := out.chat.group
	people, err := p.s.people(ctx, g)
	if err != nil {
		return err
	}
	have, err := p.holders(ctx, g)
	if err != nil {
		return err
	}
	key, err := p.distribution(ctx, g)
	if err != nil {
		return err
	}
	plaintext, err := out.plaintext()
	if err != nil {
		return err
	}
	ciphertext, err := p.signal.GroupEncrypt(ctx, g.jid().String(), p.self(), signal.Pad(plaintext))
	if err != nil {
		return fmt.Errorf("platform: encrypt for group: %w", err)
	}
	common := waBinary.Node{Tag: "enc", Attrs: waBinary.Attrs{"v": "2", "type": "skmsg"}, Content: ciphertext}
	for _, of := range people {
		for _, linked := range of.companions() {
			encs := []waBinary.Node{common}
			if !have[linked.ref()] {
				enc, err := p.distributeKey(ctx, g, linked, key)
				if err != nil {
					return err
				}
				encs = slices.Concat(enc, encs)
			}
			if err := p.u.toDevice(linked, p.stanza(out, of == p.account, encs...)); err != nil {
				return err
			}
		}
		if of != p.account {
			if err := p.bringToPhone(of, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// distributeKey encrypts the key of the group's messages for a device; none where
// the device was removed a moment ago.
func (p *phone) distributeKey(
	ctx context.Context, g *group, to *device, key *waE2E.SenderKeyDistributionMessage,
) ([]waBinary.Node, error) {
	enc, err := p.encryptPairwise(ctx, to, &waE2E.Message{SenderKeyDistributionMessage: key})
	if err != nil || enc == nil {
		return nil, err
	}
	p.u.exec("INSERT INTO distributed (number, group_id, target) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", p.number, g.ID, to.ref())
	return []waBinary.Node{*enc}, nil
}

// holders returns the devices that have the key of the phone's messages in the
// group. Where there are none the key is made anew: somebody who had it may have
// left.
func (p *phone) holders(ctx context.Context, g *group) (map[string]bool, error) {
	refs, err := queryStrings(ctx, p.s.db.Reader(),
		"SELECT target FROM distributed WHERE number = $1 AND group_id = $2", p.number, g.ID)
	if err != nil {
		return nil, fmt.Errorf("platform: list holders of a key: %w", err)
	}
	if len(refs) == 0 {
		if err := p.signal.DropSenderKey(ctx, g.jid().String(), p.self()); err != nil {
			return nil, fmt.Errorf("platform: drop sender key: %w", err)
		}
	}
	have := make(map[string]bool, len(refs))
	for _, ref := range refs {
		have[ref] = true
	}
	return have, nil
}

// distribution is what a device needs to read the phone's messages in the group.
func (p *phone) distribution(ctx context.Context, g *group) (*waE2E.SenderKeyDistributionMessage, error) {
	key, err := p.signal.Distribution(ctx, g.jid().String(), p.self())
	if err != nil {
		return nil, fmt.Errorf("platform: make sender key: %w", err)
	}
	return &waE2E.SenderKeyDistributionMessage{
		GroupID: new(g.jid().String()), AxolotlSenderKeyDistributionMessage: key,
	}, nil
}

// self is the phone's own Signal address.
func (p *phone) self() signal.Address { return signalAddress(p.lid, 0) }
