package phone

import (
	"context"
	"fmt"
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/signal"
)

// distributeToGroup sends a message to every device of every member. It is
// encrypted once. Devices that lack the key get it with the message.
func (p *phone) distributeToGroup(ctx context.Context, out phoneMessage) error {
	g := out.chat.Group
	people, err := p.s.groups.People(ctx, g)
	if err != nil {
		return err
	}
	have, err := p.holders(ctx, g)
	if err != nil {
		return err
	}
	key, err := p.distribution(ctx, g.JID().String())
	if err != nil {
		return err
	}
	plaintext, err := out.plaintext()
	if err != nil {
		return err
	}
	ciphertext, err := p.signal.GroupEncrypt(ctx, g.JID().String(), p.self(), signal.Pad(plaintext))
	if err != nil {
		return fmt.Errorf("phone: encrypt for group: %w", err)
	}
	common := waBinary.Node{Tag: "enc", Attrs: waBinary.Attrs{"v": "2", "type": "skmsg"}, Content: ciphertext}
	for _, of := range people {
		for _, linked := range of.Companions() {
			encs := []waBinary.Node{common}
			if !have[linked.Ref()] {
				enc, err := p.distributeKey(ctx, g, linked, key)
				if err != nil {
					return err
				}
				encs = slices.Concat(enc, encs)
			}
			if err := p.u.ToDevice(linked, p.stanza(out, of == p.Account, encs...)); err != nil {
				return err
			}
		}
		if of != p.Account {
			if err := p.deliverToPhone(of, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// distributeKey encrypts the key of the group's messages for a device. It returns
// no nodes if the device was removed a moment ago.
func (p *phone) distributeKey(
	ctx context.Context, g *group.Group, to *account.Device, key *waE2E.SenderKeyDistributionMessage,
) ([]waBinary.Node, error) {
	enc, err := p.encryptPairwise(ctx, to, &waE2E.Message{SenderKeyDistributionMessage: key})
	if err != nil || enc == nil {
		return nil, err
	}
	p.u.Exec("INSERT INTO distributed (number, group_id, target) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", p.Number, g.ID, to.Ref())
	return []waBinary.Node{*enc}, nil
}

// holders returns the devices that have the key of the phone's messages in the
// group. If there are none, it drops the key, because somebody who left may have
// it.
func (p *phone) holders(ctx context.Context, g *group.Group) (map[string]bool, error) {
	refs, err := database.Strings(ctx, p.s.db.Reader(),
		"SELECT target FROM distributed WHERE number = $1 AND group_id = $2", p.Number, g.ID)
	if err != nil {
		return nil, fmt.Errorf("phone: list holders of a key: %w", err)
	}
	if len(refs) == 0 {
		if err := p.signal.DropSenderKey(ctx, g.JID().String(), p.self()); err != nil {
			return nil, fmt.Errorf("phone: drop sender key: %w", err)
		}
	}
	have := make(map[string]bool, len(refs))
	for _, ref := range refs {
		have[ref] = true
	}
	return have, nil
}

// distribution returns the key with which devices read the phone's messages in a
// group, or its status posts.
func (p *phone) distribution(ctx context.Context, where string) (*waE2E.SenderKeyDistributionMessage, error) {
	key, err := p.signal.Distribution(ctx, where, p.self())
	if err != nil {
		return nil, fmt.Errorf("phone: make sender key: %w", err)
	}
	return &waE2E.SenderKeyDistributionMessage{
		GroupID: &where, AxolotlSenderKeyDistributionMessage: key,
	}, nil
}

// self is the phone's own Signal address.
func (p *phone) self() signal.Address { return account.SignalAddress(p.LID, 0) }
