// The two addresses of people, completed and reported.

package whatsapp

import (
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

// otherAddress finds the other address of a person; empty if it is not known, which is
// an ordinary answer.
func otherAddress(ctx context.Context, lids store.LIDStore, jid types.JID) types.JID {
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

// other finds the other address of a person.
func (s *session) other(jid types.JID) types.JID {
	return otherAddress(s.ctx, s.current().Store.LIDs, jid)
}

// person names somebody as completely as possible: under both addresses, and with a
// name, which is looked up if name is empty.
func (s *session) person(one, other types.JID, name string) gateway.Party {
	if other.IsEmpty() {
		other = s.other(one)
	}
	party := wire.PartyOf(one, other, name)
	if name == "" {
		party.Name = s.knownName(party, one, other)
	}
	return party
}

// knownName is the name of somebody with these addresses, empty if it is not known. Some
// names are stored under the number and some under the LID.
func (s *session) knownName(who gateway.Party, addresses ...types.JID) string {
	if self := s.Self(); self.Is(who.JID) || self.Is(who.LID) {
		return self.Name // the name in the keys is written by goroutines of whatsmeow's
	}
	contacts := s.current().Store.Contacts
	if contacts == nil {
		return ""
	}
	for _, address := range addresses {
		if address.IsEmpty() {
			continue
		}
		known, err := contacts.GetContact(s.ctx, address.ToNonAD())
		if name := firstOf(known.PushName, known.FullName, known.BusinessName); err == nil && name != "" { // unknown is an ordinary answer
			return name
		}
	}
	return ""
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// completeAddresses fills in the other address of everybody, where the stanza left it out
// and it is known from an earlier one.
func (s *session) completeAddresses(source *types.MessageSource) {
	device := s.current().Store
	if source.SenderAlt.IsEmpty() {
		source.SenderAlt, _ = device.GetAltJID(s.ctx, source.Sender) // unknown is an ordinary answer
	}
	if source.RecipientAlt.IsEmpty() && !source.IsGroup && source.IsFromMe {
		source.RecipientAlt, _ = device.GetAltJID(s.ctx, source.Chat)
	}
	lid, pn := source.Sender, source.SenderAlt
	if source.IsFromMe {
		lid, pn = source.Chat, source.RecipientAlt // of a group both are none
	}
	s.numbered(lid, pn)
}

// numbered notes whether events show somebody with a number. It reports the pair of
// number and LID if events have shown the LID alone before: another session may have
// learnt the pair, so that it is not new to the store.
func (s *session) numbered(lid, pn types.JID) {
	if lid.Server != types.HiddenUserServer {
		return
	}
	if pn.IsEmpty() {
		s.caches.numberless.Add(lid)
		return
	}
	if s.caches.numberless.Has(lid) {
		s.reportPair(store.LIDMapping{LID: lid.ToNonAD(), PN: pn.ToNonAD()})
	}
}

// pairsLearnt reports, in the background, that numbers and LIDs belong together: all if
// they are few, else those of people whom events have shown without a number.
func (s *session) pairsLearnt(pairs []store.LIDMapping) {
	if len(pairs) > maxNewPairs {
		s.logger.InfoContext(s.ctx, "many pairs of number and LID became known", slog.Int("pairs", len(pairs)))
		pairs = slices.DeleteFunc(pairs, func(pair store.LIDMapping) bool { return !s.caches.numberless.Has(pair.LID) })
	}
	for _, pair := range pairs {
		s.reportPair(pair)
	}
}

func (s *session) reportPair(pair store.LIDMapping) {
	s.caches.numberless.Remove(pair.LID)
	contact := wire.PartyOf(pair.PN, pair.LID, "")
	if self := s.Self(); self.Is(contact.LID) || self.Is(contact.JID) {
		return
	}
	queued := s.tasks.Add(func() {
		s.callHandler(func() {
			contact.Name = s.knownName(contact, pair.PN, pair.LID)
			s.contactChanged(wire.PairChange(contact, s.now()))
		})
	})
	if !queued && s.ctx.Err() == nil {
		s.logger.WarnContext(s.ctx, "a pair of number and LID is not reported: too many tasks wait")
	}
}
