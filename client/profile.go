package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)

// Profile is what others see of the messenger account of an instance.
type Profile struct {
	ID       string    `json:"id"`  // personal chat ID
	LID      *string   `json:"lid"` // nil where it is not known
	Name     string    `json:"name"`
	About    string    `json:"about"`    // empty if it says nothing about itself
	Picture  *string   `json:"picture"`  // URL; nil if there is none
	Business *Business `json:"business"` // nil if the account is none
}

// Business is what a business account says of itself.
type Business struct {
	Address    string          `json:"address"`
	Email      string          `json:"email"`
	Categories []string        `json:"categories"`
	TimeZone   string          `json:"timeZone"` // of the hours
	Hours      []BusinessHours `json:"hours"`
}

// BusinessHours is when a business is open on a day, in the platform's words.
type BusinessHours struct {
	Day    string `json:"day"`
	Mode   string `json:"mode"`
	Opens  string `json:"opens"`
	Closes string `json:"closes"`
}

// ProfileChange is a change of a profile. What is nil stays; RemovePicture is there to
// remove the picture.
type ProfileChange struct {
	Name    *string `json:"name,omitempty"`
	About   *string `json:"about,omitempty"`   // empty removes it
	Picture *string `json:"picture,omitempty"` // DataURI, or an http(s) URL
}

// Privacy is what an account lets others see and do. What is nil is something that the
// gateway does not know.
type Privacy struct {
	LastSeen       *string `json:"lastSeen"`
	Online         *string `json:"online"`
	ProfilePicture *string `json:"profilePicture"`
	About          *string `json:"about"`
	ReadReceipts   *bool   `json:"readReceipts"`
	Groups         *string `json:"groups"`
	Calls          *string `json:"calls"`
	Messages       *string `json:"messages"`
	Disappearing   int     `json:"disappearing"` // seconds; 0: never
}

// The choices of privacy settings.
const (
	PrivacyAll            = "all"
	PrivacyContacts       = "contacts"
	PrivacyContactsExcept = "contacts_except" // can be read, and set on the phone
	PrivacyNone           = "none"
	PrivacyKnown          = "known"
	PrivacySameAsLastSeen = "same_as_last_seen"
)

// PrivacyChange is a change of privacy settings. What is nil stays.
type PrivacyChange struct {
	LastSeen       *string `json:"lastSeen,omitempty"`
	Online         *string `json:"online,omitempty"`
	ProfilePicture *string `json:"profilePicture,omitempty"`
	About          *string `json:"about,omitempty"`
	ReadReceipts   *bool   `json:"readReceipts,omitempty"`
	Groups         *string `json:"groups,omitempty"`
	Calls          *string `json:"calls,omitempty"`
	Messages       *string `json:"messages,omitempty"`
	Disappearing   *int    `json:"disappearing,omitempty"` // 0, 86400, 604800 or 7776000 seconds
}

// BlockedPerson is somebody whom the account has blocked.
type BlockedPerson struct {
	ID   string  `json:"id"` // personal chat ID, or the LID if the number is not known
	LID  *string `json:"lid"`
	Name *string `json:"name"`
}

// Profile returns what others see of the account.
func (c *Client) Profile(ctx context.Context, instanceID string) (Profile, error) {
	var out Profile
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/profile"), nil, &out)
	return out, err
}

// ChangeProfile changes what others see of the account. If the platform refuses a part, the
// error says which parts were changed before.
func (c *Client) ChangeProfile(ctx context.Context, instanceID string, change ProfileChange) (Profile, error) {
	var out Profile
	err := c.callPatiently(ctx, http.MethodPatch, instancePath(instanceID, "/profile"), change, &out)
	return out, err
}

// RemovePicture removes the picture of the account.
func (c *Client) RemovePicture(ctx context.Context, instanceID string) error {
	return c.callPatiently(ctx, http.MethodPatch, instancePath(instanceID, "/profile"), map[string]any{"picture": nil}, nil)
}

// Privacy returns what the account lets others see and do.
func (c *Client) Privacy(ctx context.Context, instanceID string) (Privacy, error) {
	var out Privacy
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/privacy"), nil, &out)
	return out, err
}

// ChangePrivacy changes privacy settings, and returns all. If the platform refuses one, the
// error says which were changed before.
func (c *Client) ChangePrivacy(ctx context.Context, instanceID string, change PrivacyChange) (Privacy, error) {
	var out Privacy
	err := c.callPatiently(ctx, http.MethodPatch, instancePath(instanceID, "/privacy"), change, &out)
	return out, err
}

// ListBlocks returns a page of the people whom the account has blocked. page counts from 1;
// limit is 1 to 100. 0 leaves either out.
func (c *Client) ListBlocks(ctx context.Context, instanceID string, page, limit int) (Page[BlockedPerson], error) {
	var out Page[BlockedPerson]
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/blocks")+pageQuery(page, limit), nil, &out)
	return out, err
}

// Blocks yields the people whom the account has blocked, fetched page by page. An error ends
// the sequence.
func (c *Client) Blocks(ctx context.Context, instanceID string) iter.Seq2[BlockedPerson, error] {
	return items(func(page int) (Page[BlockedPerson], error) { return c.ListBlocks(ctx, instanceID, page, 0) })
}

// PutBlock puts somebody on the block list, as Block does.
func (c *Client) PutBlock(ctx context.Context, instanceID, phone string) error {
	return c.call(ctx, http.MethodPut, blockPath(instanceID, phone), nil, nil)
}

// DeleteBlock takes somebody off the block list, as Unblock does.
func (c *Client) DeleteBlock(ctx context.Context, instanceID, phone string) error {
	return c.call(ctx, http.MethodDelete, blockPath(instanceID, phone), nil, nil)
}

func blockPath(instanceID, phone string) string {
	return instancePath(instanceID, "/blocks/"+url.PathEscape(phone))
}
