// Who sees the status posts of the account.

package profiles

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// maxAsked bounds of how many people the LIDs are asked for at once.
const maxAsked = 256

// LearnAudience makes sure that the LIDs of those who see a status post that is written now are
// known: their receipts name them by these alone, and what an account shows is sent to numbers.
func (p *Profiles) LearnAudience(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.config.Wait)
	defer cancel()
	client := p.config.Client()
	numbers, err := recipients(ctx, client)
	if err != nil {
		return err
	}
	numbers = slices.DeleteFunc(numbers, func(who types.JID) bool { return who.Server != types.DefaultUserServer })
	known, err := client.Store.LIDs.GetManyLIDsForPNs(ctx, numbers)
	if err != nil {
		return fmt.Errorf("profiles: look for the LIDs of an audience: %w", err)
	}
	var unknown []string
	for _, who := range numbers {
		if known[who].IsEmpty() {
			unknown = append(unknown, who.User)
		}
	}
	for some := range slices.Chunk(unknown, maxAsked) {
		if _, err := client.IsOnWhatsApp(ctx, some); err != nil { // it keeps them
			return wire.Failure(err)
		}
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
	ctx, cancel := context.WithTimeout(ctx, p.config.Wait)
	defer cancel()
	client := p.config.Client()
	chosen, err := client.GetStatusPrivacy(ctx)
	if err != nil {
		return gateway.StatusAudience{}, wire.Failure(err)
	}
	audience := gateway.StatusAudience{Rule: gateway.AudienceContacts}
	switch chosen[0].Type { // there is always one, which counts
	case types.StatusPrivacyTypeWhitelist:
		audience.Rule = gateway.AudienceOnly
	case types.StatusPrivacyTypeBlacklist:
		audience.Rule = gateway.AudienceExcept
	case types.StatusPrivacyTypeContacts:
	}
	found, err := recipients(ctx, client)
	if err != nil {
		return gateway.StatusAudience{}, err
	}
	self := p.config.Self()
	for _, who := range found {
		if party := p.config.Person(who, types.EmptyJID, ""); isPerson(who) && !self.Is(party.JID) && !self.Is(party.LID) {
			audience.People = append(audience.People, party)
		}
	}
	return audience, nil
}
