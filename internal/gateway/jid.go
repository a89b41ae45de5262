// Chat IDs: the platform's addresses of people, groups and channels.

package gateway

import "strings"

// Suffixes of chat IDs (contract, "Recipient and phone-number formats").
const (
	PersonalSuffix = "s.whatsapp.net"
	GroupSuffix    = "g.us"
	LIDSuffix      = "lid"
	ChannelSuffix  = "newsletter"

	// legacyPersonalSuffix is what the platform's older clients write; it is
	// accepted and rewritten.
	legacyPersonalSuffix = "c.us"
)

// StatusChat is the chat ID under which status posts come: what people show to their contacts for
// a day. It is no recipient, and in no list of chats.
const StatusChat JID = "status@broadcast"

// maxJIDUser bounds the part before the @: group IDs of the old form, two
// numbers with a dash, are the longest.
const maxJIDUser = 40

// JID is the chat ID of a person, a group or a channel, without a device part:
// "5511999990000@s.whatsapp.net", "120363000000000000@g.us", "1234567@lid".
// The empty JID stands for none.
type JID string

// ParseJID reads a chat ID in any form that clients write: a device part
// (":12") is dropped and the old personal suffix is rewritten. It reports
// whether text is one.
func ParseJID(text string) (JID, bool) {
	if text == string(StatusChat) {
		return StatusChat, true
	}
	user, suffix, found := strings.Cut(text, "@")
	if !found {
		return "", false
	}
	if suffix == legacyPersonalSuffix {
		suffix = PersonalSuffix
	}
	switch suffix {
	case PersonalSuffix, LIDSuffix:
		if name, device, ok := strings.Cut(user, ":"); ok {
			if !allDigits(device) {
				return "", false
			}
			user = name
		}
		if !allDigits(user) {
			return "", false
		}
	case GroupSuffix:
		// Groups of the old form are "<creator>-<time>".
		creator, time, dashed := strings.Cut(user, "-")
		if !allDigits(creator) || dashed && !allDigits(time) {
			return "", false
		}
	case ChannelSuffix:
		if !allDigits(user) {
			return "", false
		}
	default:
		return "", false
	}
	if len(user) > maxJIDUser {
		return "", false
	}
	return JID(user + "@" + suffix), true
}

// User returns the part before the @.
func (j JID) User() string {
	user, _, _ := strings.Cut(string(j), "@")
	return user
}

// IsGroup reports whether j is a group chat ID.
func (j JID) IsGroup() bool { return strings.HasSuffix(string(j), "@"+GroupSuffix) }

// IsChannel reports whether j is the ID of a channel.
func (j JID) IsChannel() bool { return strings.HasSuffix(string(j), "@"+ChannelSuffix) }

// IsStatus reports whether j is where status posts are.
func (j JID) IsStatus() bool { return j == StatusChat }

// IsLID reports whether j is a LID.
func (j JID) IsLID() bool { return strings.HasSuffix(string(j), "@"+LIDSuffix) }

// IsPersonal reports whether j is a personal chat ID, by number.
func (j JID) IsPersonal() bool { return strings.HasSuffix(string(j), "@"+PersonalSuffix) }

func allDigits(text string) bool {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}
