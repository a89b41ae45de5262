// Whom the account has blocked.

package profiles

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// blocked is somebody on the block list, under one address or both.
type blocked struct{ address, other types.JID }

// blocks remembers the block list, in the order of the addresses.
type blocks struct {
	asking sync.Mutex // held while the list is asked for, which Line.Wait bounds

	mu    sync.Mutex // guards the fields below
	list  []blocked
	known bool
	round int // of the changes: an answer from before one is not kept
}

func (b *blocks) get() (list []blocked, round int, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.list, b.round, b.known
}

func (b *blocks) put(list []blocked, round int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if round == b.round {
		b.list, b.known = list, true
	}
}

// ForgetBlocks drops the block list: it has changed, or may have while the connection was
// down.
func (p *Profiles) ForgetBlocks() {
	p.blocks.mu.Lock()
	defer p.blocks.mu.Unlock()
	p.blocks.list, p.blocks.known = nil, false
	p.blocks.round++
}

// Blocked returns a page of the block list (gateway.OwnAccount). The people of the page
// alone are named.
func (p *Profiles) Blocked(ctx context.Context, page gateway.PageRequest) (gateway.Page[gateway.Party], error) {
	list, err := p.blockList(ctx)
	if err != nil {
		return gateway.Page[gateway.Party]{}, err
	}
	part := gateway.PageOf(list, page)
	found := gateway.Page[gateway.Party]{Total: part.Total, Items: make([]gateway.Party, 0, len(part.Items))}
	for _, who := range part.Items {
		found.Items = append(found.Items, p.line.Person(who.address, who.other, ""))
	}
	return found, nil
}

func (p *Profiles) blockList(ctx context.Context) ([]blocked, error) {
	p.blocks.asking.Lock()
	defer p.blocks.asking.Unlock()
	list, round, known := p.blocks.get()
	if known {
		return list, nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.line.Wait)
	defer cancel()
	inside := p.line.Client().DangerousInternals() //nolint:staticcheck // the library drops the numbers that the platform names beside the LIDs; the version is pinned
	answer, err := inside.SendIQ(ctx, whatsmeow.DangerousInfoQuery{Namespace: "blocklist", Type: "get", To: types.ServerJID})
	if err != nil {
		return nil, wire.Failure(err)
	}
	list = people(answer.GetChildByTag("list"))
	p.blocks.put(list, round)
	return list, nil
}

// people are the people in a block list, each once, in the order of the addresses.
func people(answer waBinary.Node) []blocked {
	items := answer.GetChildrenByTag("item")
	list := make([]blocked, 0, min(len(items), gateway.MaxBlocked))
	for _, item := range items {
		attrs := item.AttrGetter()
		who := blocked{attrs.OptionalJIDOrEmpty("jid").ToNonAD(), attrs.OptionalJIDOrEmpty("pn_jid").ToNonAD()}
		if isPerson(who.address) && len(list) < gateway.MaxBlocked {
			if !isPerson(who.other) {
				who.other = types.EmptyJID
			}
			list = append(list, who)
		}
	}
	slices.SortFunc(list, func(a, b blocked) int {
		one, other := a.address, b.address
		return cmp.Or(cmp.Compare(one.Server, other.Server), cmp.Compare(len(one.User), len(other.User)), cmp.Compare(one.User, other.User))
	})
	return slices.CompactFunc(list, func(a, b blocked) bool { return a.address == b.address })
}

func isPerson(address types.JID) bool {
	return address.User != "" && (address.Server == types.DefaultUserServer || address.Server == types.HiddenUserServer)
}

// BlockChanges are the changes that were made on another device.
func (p *Profiles) BlockChanges(event *events.Blocklist, at time.Time) []gateway.AccountChange {
	p.ForgetBlocks()
	changed := map[events.BlocklistChangeAction][]gateway.Party{}
	for _, change := range event.Changes[:min(len(event.Changes), gateway.MaxListed)] {
		changed[change.Action] = append(changed[change.Action], p.line.Person(change.JID.ToNonAD(), types.EmptyJID, ""))
	}
	var changes []gateway.AccountChange
	for _, part := range []struct {
		action events.BlocklistChangeAction
		kind   gateway.AccountChangeKind
	}{{events.BlocklistChangeActionBlock, gateway.AccountBlocked}, {events.BlocklistChangeActionUnblock, gateway.AccountUnblocked}} {
		if people := changed[part.action]; len(people) > 0 {
			changes = append(changes, gateway.AccountChange{Kind: part.kind, People: people, At: at.UTC()})
		}
	}
	if len(changes) == 0 {
		changes = []gateway.AccountChange{{Kind: gateway.AccountBlockListReset, At: at.UTC()}}
	}
	return changes
}

// SetBlocked blocks or unblocks a person (gateway.Account).
func (p *Profiles) SetBlocked(ctx context.Context, who gateway.JID, blocked bool) error {
	jid, err := wire.ToJID(who)
	if err != nil {
		return err
	}
	if err := p.contacts.CheckRegistered(ctx, jid); err != nil {
		return err
	}
	action, kind := events.BlocklistChangeActionUnblock, gateway.AccountUnblocked
	if blocked {
		action, kind = events.BlocklistChangeActionBlock, gateway.AccountBlocked
	}
	if _, err := p.line.Client().UpdateBlocklist(ctx, jid, action); err != nil {
		return failure(err, gateway.CodeBlockRefused, "this change of the block list")
	}
	p.ForgetBlocks()
	p.changed(gateway.AccountChange{
		Kind: kind, People: []gateway.Party{p.line.Person(jid, types.EmptyJID, "")}, At: p.line.Now().UTC(),
	})
	return nil
}
