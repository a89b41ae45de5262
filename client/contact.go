package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// KnownContact is somebody whom an account knows by name.
type KnownContact struct {
	ID              string  `json:"id"`   // personal chat ID, or the LID if the number is not known
	LID             *string `json:"lid"`  // nil where it is not known
	Name            *string `json:"name"` // the first of those below
	AddressBookName *string `json:"addressBookName"`
	PushName        *string `json:"pushName"`
	BusinessName    *string `json:"businessName"`
	Username        *string `json:"username"` // by which others find the person without the number; nil where none is known
}

// ContactDetails is a contact with what the platform says.
type ContactDetails struct {
	KnownContact
	About    string    `json:"about"`
	Business *Business `json:"business"` // nil if it is none
}

// Address is what the gateway knows of the two addresses of somebody.
type Address struct {
	Address string  `json:"address"` // as it was given
	JID     *string `json:"jid"`     // by number; nil where it is not known
	LID     *string `json:"lid"`     // nil where it is not known
}

// ListContacts returns a page of the people whom an account knows by name, in the order of the
// names; only those who have search in a name or their number, unless it is empty. The instance
// need not be connected.
func (c *Client) ListContacts(ctx context.Context, instanceID, search string, page, limit int) (Page[KnownContact], error) {
	query := url.Values{}
	if search != "" {
		query.Set("search", search)
	}
	var out Page[KnownContact]
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/contacts")+withQuery(pageQuery(page, limit), query), nil, &out)
	return out, err
}

// Contacts yields all of them, fetched page by page. An error ends the sequence.
func (c *Client) Contacts(ctx context.Context, instanceID, search string) iter.Seq2[KnownContact, error] {
	return items(func(page int) (Page[KnownContact], error) { return c.ListContacts(ctx, instanceID, search, page, 0) })
}

// GetContact returns what is known of somebody, who is named by a number, a chat ID or a LID.
func (c *Client) GetContact(ctx context.Context, instanceID, who string) (ContactDetails, error) {
	var out ContactDetails
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/contacts/"+url.PathEscape(who)), nil, &out)
	return out, err
}

// NameContact writes a name into the address book of the account, on all its devices.
func (c *Client) NameContact(ctx context.Context, instanceID, who, name string) (ContactDetails, error) {
	var out ContactDetails
	err := c.call(ctx, http.MethodPut, instancePath(instanceID, "/contacts/"+url.PathEscape(who)), map[string]string{"name": name}, &out)
	return out, err
}

// Addresses returns which numbers and LIDs belong together, as far as the gateway knows: one
// result for each given address, in their order; 500 at most. The instance need not be connected.
func (c *Client) Addresses(ctx context.Context, instanceID string, addresses []string) ([]Address, error) {
	var out struct{ Results []Address }
	err := c.call(ctx, http.MethodPost, instancePath(instanceID, "/addresses"), map[string][]string{"addresses": addresses}, &out)
	return out.Results, err
}

// PresenceSubscription is a contact whose presence an instance has subscribed to, with what the
// contact has shown last.
type PresenceSubscription struct {
	ID        string     `json:"id"`  // personal chat ID, or the LID if the number is not known
	LID       *string    `json:"lid"` // nil where it is not known
	CreatedAt time.Time  `json:"createdAt"`
	EndsAt    time.Time  `json:"endsAt"`
	Presence  *Presence  `json:"presence"` // nil if nothing was shown yet
	ShownAt   *time.Time `json:"shownAt"`
	LastSeen  *time.Time `json:"lastSeen"` // nil where the contact doesn't share it
}

// SubscribePresence subscribes an instance to somebody's presence for some hours from now on,
// 720 at most, or prolongs that; 0 means a week. The events presence say what the contact shows.
func (c *Client) SubscribePresence(ctx context.Context, instanceID, who string, hours int) (PresenceSubscription, error) {
	body := map[string]int{}
	if hours != 0 {
		body["hours"] = hours
	}
	var out PresenceSubscription
	err := c.call(ctx, http.MethodPut, presencePath(instanceID, who), body, &out)
	return out, err
}

// GetPresenceSubscription returns what somebody whose presence the instance has subscribed to has
// shown last. The platform is not asked.
func (c *Client) GetPresenceSubscription(ctx context.Context, instanceID, who string) (PresenceSubscription, error) {
	var out PresenceSubscription
	err := c.call(ctx, http.MethodGet, presencePath(instanceID, who), nil, &out)
	return out, err
}

// UnsubscribePresence ends a subscription.
func (c *Client) UnsubscribePresence(ctx context.Context, instanceID, who string) error {
	return c.call(ctx, http.MethodDelete, presencePath(instanceID, who), nil, nil)
}

// ListPresenceSubscriptions returns a page of an instance's subscriptions, the oldest first.
func (c *Client) ListPresenceSubscriptions(ctx context.Context, instanceID string, page, limit int) (Page[PresenceSubscription], error) {
	var out Page[PresenceSubscription]
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/presence-subscriptions")+pageQuery(page, limit), nil, &out)
	return out, err
}

// PresenceSubscriptions yields all of them, fetched page by page. An error ends the sequence.
func (c *Client) PresenceSubscriptions(ctx context.Context, instanceID string) iter.Seq2[PresenceSubscription, error] {
	return items(func(page int) (Page[PresenceSubscription], error) {
		return c.ListPresenceSubscriptions(ctx, instanceID, page, 0)
	})
}

func presencePath(instanceID, who string) string {
	return instancePath(instanceID, "/contacts/"+url.PathEscape(who)+"/presence-subscription")
}
