// What business accounts say of themselves.

package profile

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// iqBusinessProfile answers with what a business says of itself. Of anybody else the answer
// has nothing.
func (s *Service) iqBusinessProfile(ctx context.Context, _ account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	asked, _ := wire.Child(iq, "business_profile", "profile")
	answer := waBinary.Node{Tag: "business_profile"}
	jid := wire.AttrJID(asked, "jid")
	of, err := s.config.Accounts.ByJID(ctx, jid)
	if err != nil || of == nil {
		return []waBinary.Node{answer}, err
	}
	if business := of.Business(); business != nil {
		answer.Content = []waBinary.Node{businessNode(*business, waBinary.Attrs{"jid": jid.ToNonAD()})}
	}
	return []waBinary.Node{answer}, nil
}

func businessNode(business account.Business, attrs waBinary.Attrs) waBinary.Node {
	categories := make([]waBinary.Node, 0, len(business.Categories))
	for _, name := range business.Categories {
		categories = append(categories, waBinary.Node{Tag: "category", Attrs: waBinary.Attrs{"id": wire.NewID()}, Content: []byte(name)})
	}
	hours := make([]waBinary.Node, 0, len(business.Hours))
	for _, day := range business.Hours {
		hours = append(hours, waBinary.Node{Tag: "business_hours_config", Attrs: waBinary.Attrs{
			"day_of_week": day.Day, "mode": day.Mode, "open_time": day.Opens, "close_time": day.Closes,
		}})
	}
	return waBinary.Node{Tag: "profile", Attrs: attrs, Content: []waBinary.Node{
		{Tag: "address", Content: []byte(business.Address)},
		{Tag: "email", Content: []byte(business.Email)},
		{Tag: "business_hours", Attrs: waBinary.Attrs{"timezone": business.TimeZone}, Content: hours},
		{Tag: "categories", Content: categories},
	}}
}
