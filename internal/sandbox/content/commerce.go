// What people send from the programs of businesses, and invitations to groups.

package content

import (
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// Referral is the advertisement from which somebody comes to a chat.
type Referral struct {
	SourceType string `json:"sourceType"`
	SourceID   string `json:"sourceId"`
	SourceURL  string `json:"sourceUrl"`
	Headline   string `json:"headline"`
	Body       string `json:"body"`
	ClickID    string `json:"clickId"`
}

// Context adds the advertisement to what a message says about its place; about may be nil.
func (r *Referral) Context(about *waE2E.ContextInfo) *waE2E.ContextInfo {
	if r == nil {
		return about
	}
	if about == nil {
		about = &waE2E.ContextInfo{}
	}
	about.ConversionSource = new("FB_Ads")
	about.ExternalAdReply = &waE2E.ContextInfo_ExternalAdReplyInfo{
		SourceType: &r.SourceType, SourceID: &r.SourceID, SourceURL: &r.SourceURL, Title: &r.Headline, Body: &r.Body,
		CtwaClid: &r.ClickID, ShowAdAttribution: new(true),
	}
	return about
}

// Order is what somebody orders from a catalogue.
type Order struct {
	ID       string  `json:"id"`
	Title    string  `json:"title"`
	Items    int32   `json:"items"`
	Total    float64 `json:"total"`
	Currency string  `json:"currency"`
}

func composeOrder(m Outgoing, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	if m.Order == nil || m.Order.ID == "" {
		return nil, refusal.Invalidf("order.id", "is required")
	}
	const thousandths = 1000
	return &waE2E.Message{OrderMessage: &waE2E.OrderMessage{
		OrderID: &m.Order.ID, OrderTitle: &m.Order.Title, ItemCount: &m.Order.Items, Message: optional(m.Text),
		TotalAmount1000: new(int64(m.Order.Total * thousandths)), TotalCurrencyCode: &m.Order.Currency, ContextInfo: reply,
	}}, nil
}

// Invite is an invitation to a group.
type Invite struct {
	GroupID   string `json:"groupId"`
	Code      string `json:"code"`
	Name      string `json:"name"`
	ExpiresAt int64  `json:"expiresAt"` // Unix seconds; 0: in three days
}

func composeInvite(m Outgoing, reply *waE2E.ContextInfo, now time.Time) (*waE2E.Message, error) {
	if m.Invite == nil || m.Invite.GroupID == "" || m.Invite.Code == "" {
		return nil, refusal.Invalidf("groupInvite", "needs groupId and code")
	}
	const days3 = 72 * time.Hour
	expires := m.Invite.ExpiresAt
	if expires == 0 {
		expires = now.Add(days3).Unix()
	}
	return &waE2E.Message{GroupInviteMessage: &waE2E.GroupInviteMessage{
		GroupJID: &m.Invite.GroupID, InviteCode: &m.Invite.Code, GroupName: &m.Invite.Name, InviteExpiration: &expires,
		Caption: optional(m.Caption), ContextInfo: reply,
	}}, nil
}

// composeSelection builds an answer to the buttons, or to the list, of an earlier message.
func composeSelection(m Outgoing, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	if m.SelectedID == "" || m.Text == "" {
		return nil, refusal.Invalidf("selectedId", "is required, with text")
	}
	if m.Kind == "list" {
		return &waE2E.Message{ListResponseMessage: &waE2E.ListResponseMessage{
			Title: &m.Text, ListType: waE2E.ListResponseMessage_SINGLE_SELECT.Enum(), ContextInfo: reply,
			SingleSelectReply: &waE2E.ListResponseMessage_SingleSelectReply{SelectedRowID: &m.SelectedID},
		}}, nil
	}
	return &waE2E.Message{ButtonsResponseMessage: &waE2E.ButtonsResponseMessage{
		SelectedButtonID: &m.SelectedID, Type: waE2E.ButtonsResponseMessage_DISPLAY_TEXT.Enum(), ContextInfo: reply,
		Response: &waE2E.ButtonsResponseMessage_SelectedDisplayText{SelectedDisplayText: m.Text},
	}}, nil
}

// describeCommerce fills in what a phone shows of these messages.
func describeCommerce(m *waE2E.Message, shown *Shown) {
	switch {
	case m.GetOrderMessage() != nil:
		v := m.GetOrderMessage()
		shown.Type, shown.Text = "order", v.GetMessage()
	case m.GetGroupInviteMessage() != nil:
		v := m.GetGroupInviteMessage()
		shown.Type, shown.Caption, shown.Name = "group_invite", v.GetCaption(), v.GetGroupName()
	case m.GetButtonsResponseMessage() != nil:
		v := m.GetButtonsResponseMessage()
		shown.Type, shown.Text = "text", v.GetSelectedDisplayText()
	case m.GetListResponseMessage() != nil:
		v := m.GetListResponseMessage()
		shown.Type, shown.Text = "text", v.GetTitle()
	}
}
