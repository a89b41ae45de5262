// The names of Baileys' entries, and the addresses of devices in them.

package baileys

import (
	"fmt"
	"strconv"
	"strings"

	"go.mau.fi/whatsmeow/types"
)

// The kinds of entries, as their names begin.
const (
	kindPreKey     = "pre-key"
	kindSession    = "session"
	kindSenderKey  = "sender-key"
	kindIdentity   = "identity-key"
	kindSyncKey    = "app-state-sync-key"
	kindCollection = "app-state-sync-version"
	kindToken      = "tctoken"
	kindPair       = "lid-mapping"
	// The others follow from these, or are asked for anew: who was given the own key of a
	// group, and the devices of people.
	kindSenderKeyMemory = "sender-key-memory"
	kindDeviceList      = "device-list"
)

// splitName separates the kind of an entry from the rest of its name. The kind of a name
// that Baileys does not write is empty.
func splitName(name string) (kind, rest string) {
	for _, kind := range []string{
		kindPreKey, kindSession, kindSenderKeyMemory, kindSenderKey, kindIdentity, kindSyncKey, kindCollection, kindToken, kindPair, kindDeviceList,
	} {
		if rest, ok := strings.CutPrefix(name, kind+"-"); ok {
			return kind, rest
		}
	}
	return "", ""
}

// lidName is the user that a pair is found by, and whether that is the LID.
func lidName(rest string) (user string, isReverse bool) { return strings.CutSuffix(rest, "_reverse") }

// unfileName undoes what Baileys does to a name to make it one of a file, for names that
// have slashes and no underscores of their own.
func unfileName(rest string) string { return strings.ReplaceAll(rest, "__", "/") }

// address is that of a device in Signal's sense.
type address struct {
	user   string
	domain uint8 // as in whatsmeow: types.LIDDomain and so on
	device uint32
}

// String is the address as whatsmeow has it: 5511999990000:1, or with the domain
// 236395184570386_1:0.
func (a address) String() string {
	if a.domain == types.WhatsAppDomain {
		return fmt.Sprintf("%s:%d", a.user, a.device)
	}
	return fmt.Sprintf("%s_%d:%d", a.user, a.domain, a.device)
}

// own is the address itself, for placed.
func (a address) own() (address, func(address) address) {
	return a, func(other address) address { return other }
}

// parseAddress reads 5511999990000.1, or with the domain 236395184570386_1.0.
func parseAddress(text string) (address, bool) {
	name, device, ok := strings.Cut(text, ".")
	if !ok {
		return address{}, false
	}
	return newAddress(name, device)
}

func newAddress(name, device string) (address, bool) {
	user, domain, hasDomain := strings.Cut(name, "_")
	a := address{user: user}
	if !isUser(user) {
		return a, false
	}
	number, err := strconv.ParseUint(device, 10, 16)
	if err != nil {
		return a, false
	}
	a.device = uint32(number)
	if !hasDomain {
		return a, true
	}
	number, err = strconv.ParseUint(domain, 10, 8)
	a.domain = uint8(number)
	return a, err == nil
}

// longestUser is more than any number or LID has.
const longestUser = 32

// isUser reports whether a text may be a number or a LID.
func isUser(text string) bool {
	return text != "" && len(text) <= longestUser && strings.Trim(text, "0123456789") == ""
}

// member is a device of a member of a group.
type member struct {
	group  string
	device address
}

// own is the member's address, for placed.
func (m member) own() (address, func(address) member) {
	return m.device, func(other address) member { return member{m.group, other} }
}

// parseMember reads 120363025246125486@g.us::236395184570386_1::0, in which a file's name
// has hyphens. The names of old groups have one too, so it is read from its end.
func parseMember(text string) (member, bool) {
	separator := "::"
	if !strings.Contains(text, separator) {
		separator = "--"
	}
	last := strings.LastIndex(text, separator)
	if last < 0 {
		return member{}, false
	}
	device := text[last+len(separator):]
	text = text[:last]
	middle := strings.LastIndex(text, separator)
	if middle < 0 {
		return member{}, false
	}
	at, ok := newAddress(text[middle+len(separator):], device)
	group, err := types.ParseJID(text[:middle])
	return member{group.String(), at}, ok && err == nil && group.User != ""
}
