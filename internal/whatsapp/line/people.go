// The two addresses of people, completed and reported.

package line

import (
	"cmp"
	"context"
	"log/slog"
	"slices"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// maxNewPairs bounds how many pairs of number and LID that became known at once are
// reported. More of them are the members of a big group, or a history: nobody has asked
// for these people, and their events carry both addresses when they come.
const maxNewPairs = 32

// OtherAddress finds the other address of a person; empty if it is not known, which is
// an ordinary answer.
func OtherAddress(ctx context.Context, lids store.LIDStore, jid types.JID) types.JID {
	if lids == nil {
		return types.EmptyJID
	}
	var other types.JID
	var err error
	switch jid.Server {
	case types.DefaultUserServer:
		other, err = lids.GetLIDForPN(ctx, jid)
	case types.HiddenUserServer:
		other, err = lids.GetPNForLID(ctx, jid)
	}
	if err != nil {
		return types.EmptyJID
	}
	return other
}

// Other finds the other address of a person.
func (l *Line) Other(jid types.JID) types.JID {
	return OtherAddress(l.Context, l.Client().Store.LIDs, jid)
}

// Person names somebody as completely as possible: under both addresses, and with a
// name, which is looked up if name is empty.
func (l *Line) Person(one, other types.JID, name string) gateway.Party {
	if other.IsEmpty() {
		other = l.Other(one)
	}
	party := wire.PartyOf(one, other, name)
	if name == "" {
		party.Name = l.NameOf(party, one, other)
	}
	return party
}

// NameOf is the name of somebody with these addresses, empty if it is not known. Some
// names are stored under the number and some under the LID.
func (l *Line) NameOf(who gateway.Party, addresses ...types.JID) string {
	if self := l.Self(); self.Is(who.JID) || self.Is(who.LID) {
		return self.Name // the name in the keys is written by goroutines of whatsmeow's
	}
	contacts := l.Client().Store.Contacts
	if contacts == nil {
		return ""
	}
	for _, address := range addresses {
		if address.IsEmpty() {
			continue
		}
		known, err := contacts.GetContact(l.Context, address.ToNonAD())
		if name := cmp.Or(known.PushName, known.FullName, known.BusinessName); err == nil && name != "" { // unknown is an ordinary answer
			return name
		}
	}
	return ""
}

// Complete fills in the other address of everybody, where the stanza left it out
// and it is known from an earlier one.
func (l *Line) Complete(source *types.MessageSource) {
	device := l.Client().Store
	if source.SenderAlt.IsEmpty() {
		source.SenderAlt, _ = device.GetAltJID(l.Context, source.Sender) // unknown is an ordinary answer
	}
	if source.RecipientAlt.IsEmpty() && !source.IsGroup && source.IsFromMe {
		source.RecipientAlt, _ = device.GetAltJID(l.Context, source.Chat)
	}
	lid, pn := source.Sender, source.SenderAlt
	if source.IsFromMe {
		lid, pn = source.Chat, source.RecipientAlt // of a group both are none
	}
	l.numbered(lid, pn)
}

// numbered notes whether events show somebody with a number. It reports the pair of
// number and LID if events have shown the LID alone before: another session may have
// learnt the pair, so that it is not new to the store.
func (l *Line) numbered(lid, pn types.JID) {
	if lid.Server != types.HiddenUserServer {
		return
	}
	if pn.IsEmpty() {
		l.numberless.Add(lid)
		return
	}
	if l.numberless.Has(lid) {
		l.reportPair(store.LIDMapping{LID: lid.ToNonAD(), PN: pn.ToNonAD()})
	}
}

// PairsLearnt reports, in the background, that numbers and LIDs belong together: all if
// they are few, else those of people whom events have shown without a number.
func (l *Line) PairsLearnt(pairs []store.LIDMapping) {
	if len(pairs) > maxNewPairs {
		l.Logger.InfoContext(l.Context, "many pairs of number and LID became known", slog.Int("pairs", len(pairs)))
		pairs = slices.DeleteFunc(pairs, func(pair store.LIDMapping) bool { return !l.numberless.Has(pair.LID) })
	}
	for _, pair := range pairs {
		l.reportPair(pair)
	}
}

func (l *Line) reportPair(pair store.LIDMapping) {
	l.numberless.Remove(pair.LID)
	contact := wire.PartyOf(pair.PN, pair.LID, "")
	if self := l.Self(); self.Is(contact.LID) || self.Is(contact.JID) {
		return
	}
	queued := l.Tasks.Add(func() {
		l.WhileOpen(func() {
			contact.Name = l.NameOf(contact, pair.PN, pair.LID)
			l.Report(l.Context, wire.PairChange(contact, l.Now()), "change of a contact")
		})
	})
	if !queued && l.Context.Err() == nil {
		l.Logger.WarnContext(l.Context, "a pair of number and LID is not reported: too many tasks wait")
	}
}
