// What people send from the programs of businesses: orders, answers to buttons and lists, the
// advertisement that they come from; and invitations to groups.

package wire

import (
	"cmp"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// maxParameters bounds the JSON of a form in characters.
const maxParameters = 8_192

// selectedText is the text of what somebody has chosen of buttons or a list, and reports
// whether content is such a choice.
func selectedText(content *waE2E.Message) (text string, ok bool) {
	switch {
	case content.GetButtonsResponseMessage() != nil:
		return content.GetButtonsResponseMessage().GetSelectedDisplayText(), true
	case content.GetTemplateButtonReplyMessage() != nil:
		return content.GetTemplateButtonReplyMessage().GetSelectedDisplayText(), true
	case content.GetListResponseMessage() != nil:
		list := content.GetListResponseMessage()
		return cmp.Or(list.GetTitle(), list.GetDescription()), true
	case content.GetInteractiveResponseMessage() != nil:
		return content.GetInteractiveResponseMessage().GetBody().GetText(), true
	}
	return "", false
}

func selectionOf(content *waE2E.Message) *gateway.Selection {
	var selection gateway.Selection
	switch {
	case content.GetButtonsResponseMessage() != nil:
		selection.ID = content.GetButtonsResponseMessage().GetSelectedButtonID()
	case content.GetTemplateButtonReplyMessage() != nil:
		selection.ID = content.GetTemplateButtonReplyMessage().GetSelectedID()
	case content.GetListResponseMessage() != nil:
		selection.ID = content.GetListResponseMessage().GetSingleSelectReply().GetSelectedRowID()
	case content.GetInteractiveResponseMessage() != nil:
		flow := content.GetInteractiveResponseMessage().GetNativeFlowResponseMessage()
		selection.ID, selection.Parameters = flow.GetName(), gateway.CleanText(flow.GetParamsJSON(), maxParameters)
	default:
		return nil
	}
	selection.ID = gateway.CleanName(selection.ID)
	return &selection
}

func orderOf(content *waE2E.Message) *gateway.Order {
	order := content.GetOrderMessage()
	if order == nil {
		if shown := offerOf(content); shown != nil {
			return shown.order
		}
		return nil
	}
	return &gateway.Order{
		ID: gateway.CleanName(order.GetOrderID()), Title: gateway.CleanName(order.GetOrderTitle()),
		Items: max(0, int(order.GetItemCount())), Total: max(0, order.GetTotalAmount1000()),
		Currency: gateway.CleanName(order.GetTotalCurrencyCode()),
	}
}

func inviteOf(content *waE2E.Message) *gateway.GroupInvite {
	invite := content.GetGroupInviteMessage()
	if invite == nil {
		return nil
	}
	shown := &gateway.GroupInvite{Code: gateway.CleanName(invite.GetInviteCode()), Name: gateway.CleanName(invite.GetGroupName())}
	if group, err := types.ParseJID(invite.GetGroupJID()); err == nil && group.Server == types.GroupServer && group.User != "" {
		shown.Group = JIDOf(group)
	}
	shown.ExpiresAt = unixTime(invite.GetInviteExpiration())
	return shown
}

// maxUnix is the end of the year 9999, which is the last that a time in JSON can have.
const maxUnix = 253_402_300_799

// referralOf is the advertisement that a message came from. The same part of a message may
// describe a link, which is none.
func referralOf(about *waE2E.ContextInfo) *gateway.Referral {
	ad := about.GetExternalAdReply()
	if ad == nil || ad.GetCtwaClid() == "" && ad.GetSourceID() == "" {
		return nil
	}
	return &gateway.Referral{
		SourceType: gateway.CleanName(ad.GetSourceType()), SourceID: gateway.CleanName(ad.GetSourceID()),
		SourceURL: webAddress(ad.GetSourceURL()), Headline: gateway.CleanName(ad.GetTitle()),
		Body: gateway.CleanText(ad.GetBody(), gateway.MaxText), ClickID: gateway.CleanText(ad.GetCtwaClid(), maxClickID),
		Ref: gateway.CleanText(ad.GetRef(), maxClickID),
	}
}

// webAddress is an address that somebody may follow; empty for any other.
func webAddress(address string) string {
	address = gateway.CleanURL(address)
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return ""
	}
	return address
}

// personOf is the address of somebody whom a message names; empty where it names nobody.
func personOf(address string) gateway.JID {
	jid, err := types.ParseJID(address)
	if err != nil || jid.User == "" || (jid.Server != types.DefaultUserServer && jid.Server != types.HiddenUserServer) {
		return ""
	}
	return JIDOf(jid.ToNonAD())
}

// maxClickID bounds the names of a click in characters; they have some hundred.
const maxClickID = 2_048
