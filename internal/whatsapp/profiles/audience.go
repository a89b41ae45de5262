// Who sees the status posts of the account.

package profiles

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// maxAsked bounds of how many people the LIDs are asked for with one question.
const maxAsked = 256

// audience is who sees the status posts.
type audience struct {
	rule  types.StatusPrivacyType
	seers []types.JID            // each once
	out   map[types.JID]struct{} // whom the library must not find in the address book
}

// audience finds out who sees a status post that is written now. The LIDs of them all are known
// then: receipts name people by these alone, and what an account shows is sent to numbers.
func (p *Profiles) audience(ctx context.Context, client *whatsmeow.Client) (audience, error) {
	chosen, err := client.GetStatusPrivacy(ctx)
	if err != nil {
		return audience{}, wire.Failure(err)
	}
	found, err := recipients(ctx, client)
	if err != nil {
		return audience{}, err
	}
	lids, err := learn(ctx, client, append(found, client.Store.GetJID().ToNonAD()))
	if err != nil {
		return audience{}, err
	}
	of := audience{rule: chosen[0].Type, out: map[types.JID]struct{}{}} // there is always one, which counts
	for _, lid := range lids {
		of.out[lid] = struct{}{} // who is listed by both addresses, or is this account, gets a post by number
	}
	if of.rule == types.StatusPrivacyTypeBlacklist {
		if err := bothAddresses(ctx, client, chosen[0].List, of.out); err != nil {
			return audience{}, err
		}
	}
	of.seers = slices.DeleteFunc(found, func(who types.JID) bool { _, hidden := of.out[who]; return hidden })
	return of, nil
}

// Audience returns a context in which the library sends a status post to those who may see it, to
// each once; or to some of them only, if there are any. Its error is Invalid for somebody who may
// not see it, and for some of those whom the owner has chosen one by one: to them the library sends
// in any case.
func (p *Profiles) Audience(ctx context.Context, only []gateway.JID) (context.Context, error) {
	asking, cancel := context.WithTimeout(ctx, p.line.Wait)
	defer cancel()
	client := p.line.Client()
	of, err := p.audience(asking, client)
	if err != nil {
		return nil, err
	}
	if len(only) > 0 {
		others, err := without(asking, client, of.seers, only)
		if err != nil {
			return nil, err
		}
		if len(others) > 0 && of.rule == types.StatusPrivacyTypeWhitelist {
			return nil, gateway.Errorf(gateway.Invalid, gateway.CodeStatusAudience,
				"the owner of the account has chosen on the phone who alone sees status posts; each post is shown to them all")
		}
		for _, who := range others {
			of.out[who] = struct{}{}
		}
	}
	return keys.LeavingOut(ctx, of.out), nil
}

// without returns those who see the status posts but for some people. Its error is Invalid if one
// of these does not see them.
func without(ctx context.Context, client *whatsmeow.Client, seers []types.JID, people []gateway.JID) ([]types.JID, error) {
	wanted := map[types.JID]struct{}{}
	for _, address := range people {
		who, err := wire.ToJID(address)
		if err != nil {
			return nil, err
		}
		addresses := map[types.JID]struct{}{}
		if err := bothAddresses(ctx, client, []types.JID{who}, addresses); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(seers, func(seer types.JID) bool { _, is := addresses[seer]; return is }) {
			return nil, gateway.Errorf(gateway.Invalid, gateway.CodeStatusAudience,
				"%s does not see the status posts of the account: GET …/status/audience says who does", address)
		}
		maps.Copy(wanted, addresses)
	}
	return slices.DeleteFunc(slices.Clone(seers), func(seer types.JID) bool { _, is := wanted[seer]; return is }), nil
}

// learn returns the LIDs of those people who are named by their numbers, as far as the platform
// tells them. What was not known is asked for, and kept.
func learn(ctx context.Context, client *whatsmeow.Client, people []types.JID) (map[types.JID]types.JID, error) {
	numbers := slices.DeleteFunc(slices.Clone(people), func(who types.JID) bool { return who.Server != types.DefaultUserServer })
	known, err := client.Store.LIDs.GetManyLIDsForPNs(ctx, numbers)
	if err != nil {
		return nil, fmt.Errorf("profiles: look for the LIDs of an audience: %w", err)
	}
	var unknown []string
	for _, who := range numbers {
		if known[who].IsEmpty() {
			unknown = append(unknown, who.User)
		}
	}
	for some := range slices.Chunk(unknown, maxAsked) {
		if _, err := client.IsOnWhatsApp(ctx, some); err != nil { // it keeps them
			return nil, wire.Failure(err)
		}
	}
	if len(unknown) > 0 {
		if known, err = client.Store.LIDs.GetManyLIDsForPNs(ctx, numbers); err != nil {
			return nil, fmt.Errorf("profiles: look for the LIDs of an audience: %w", err)
		}
	}
	return known, nil
}

// bothAddresses adds to a set the number and the LID of each of people, as far as they are known.
func bothAddresses(ctx context.Context, client *whatsmeow.Client, people []types.JID, set map[types.JID]struct{}) error {
	for _, who := range people {
		who = who.ToNonAD()
		set[who] = struct{}{}
		look := client.Store.LIDs.GetLIDForPN
		if who.Server == types.HiddenUserServer {
			look = client.Store.LIDs.GetPNForLID
		}
		other, err := look(ctx, who)
		if err != nil {
			return fmt.Errorf("profiles: look for the other address of somebody: %w", err)
		}
		set[other] = struct{}{}
	}
	return nil
}

// recipients asks whom the library sends a status post to.
func recipients(ctx context.Context, client *whatsmeow.Client) ([]types.JID, error) {
	found, err := client.DangerousInternals().GetStatusBroadcastRecipients(ctx) //nolint:staticcheck // the library has no other way to ask; the version is pinned
	if err != nil {
		return nil, wire.Failure(err)
	}
	for n := range found {
		found[n] = found[n].ToNonAD()
	}
	slices.SortFunc(found, func(a, b types.JID) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.User, b.User))
	})
	return slices.Compact(found), nil
}

// StatusAudience asks who sees a status post that is written now (gateway.OwnAccount). A post is
// sent to those whom the library finds in the same way.
func (p *Profiles) StatusAudience(ctx context.Context) (gateway.StatusAudience, error) {
	ctx, cancel := context.WithTimeout(ctx, p.line.Wait)
	defer cancel()
	of, err := p.audience(ctx, p.line.Client())
	if err != nil {
		return gateway.StatusAudience{}, err
	}
	audience := gateway.StatusAudience{Rule: gateway.AudienceContacts}
	switch of.rule {
	case types.StatusPrivacyTypeWhitelist:
		audience.Rule = gateway.AudienceOnly
	case types.StatusPrivacyTypeBlacklist:
		audience.Rule = gateway.AudienceExcept
	case types.StatusPrivacyTypeContacts:
	}
	self := p.line.Self()
	for _, who := range of.seers {
		if party := p.line.Person(who, types.EmptyJID, ""); isPerson(who) && !self.Is(party.JID) && !self.Is(party.LID) {
			audience.People = append(audience.People, party)
		}
	}
	return audience, nil
}
