// Messages that are encrypted once for all who get them: those of groups, and status posts.

package phone

import (
	"context"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/signal"
)

// distributeToGroup sends a message to every device of every member.
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
	given, err := p.distributeShared(ctx, out, people, have)
	if err != nil {
		return err
	}
	for _, linked := range given {
		p.u.Exec("INSERT INTO distributed (number, group_id, target) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", p.Account.Number, g.ID, linked.Ref())
	}
	return nil
}

// distributeShared sends a message to every device of people, among whom is the sender. It is
// encrypted once. Devices that do not have the key get it with the message, and are returned.
func (p *phone) distributeShared(
	ctx context.Context, out phoneMessage, people []*account.Account, have map[string]bool,
) (given []*account.Device, err error) {
	where := out.chat.JID().String()
	key, err := p.distribution(ctx, where)
	if err != nil {
		return nil, err
	}
	plaintext, err := out.plaintext()
	if err != nil {
		return nil, err
	}
	ciphertext, err := p.signal.GroupEncrypt(ctx, where, p.self(), signal.Pad(plaintext))
	if err != nil {
		return nil, fmt.Errorf("phone: encrypt for %s: %w", where, err)
	}
	common := waBinary.Node{Tag: "enc", Attrs: waBinary.Attrs{"v": "2", "type": "skmsg"}, Content: ciphertext}
	for _, of := range people {
		for _, linked := range of.Companions() {
			encs := []waBinary.Node{common}
			if !have[linked.Ref()] {
				enc, err := p.encryptPairwise(ctx, linked, &waE2E.Message{SenderKeyDistributionMessage: key})
				if err != nil {
					return nil, err
				}
				if enc == nil {
					continue // it was removed a moment ago
				}
				encs, given = []waBinary.Node{*enc, common}, append(given, linked)
			}
			if err := p.u.ToDevice(linked, p.stanza(out, of == p.Account, encs...)); err != nil {
				return nil, err
			}
		}
		if of != p.Account {
			if err := p.deliverToPhone(of, out); err != nil {
				return nil, err
			}
		}
	}
	return given, nil
}

// holders returns the devices that have the key of the phone's messages in the
// group. If there are none, it drops the key, because somebody who left may have
// it.
func (p *phone) holders(ctx context.Context, g *group.Group) (map[string]bool, error) {
	refs, err := database.Strings(ctx, p.s.db.Reader(),
		"SELECT target FROM distributed WHERE number = $1 AND group_id = $2", p.Account.Number, g.ID)
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
func (p *phone) self() signal.Address { return account.SignalAddress(p.Account.LID, 0) }
