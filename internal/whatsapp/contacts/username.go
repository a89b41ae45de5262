// The names by which people are found without their numbers.

package contacts

import (
	"context"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// The bounds of a username, in characters, by the rules of the messenger's own clients.
const (
	minUsername = 3
	maxUsername = 35
)

// username asks for the username of somebody, and keeps it under both addresses; empty for none,
// and where the platform knows no usernames yet. The library reads them nowhere.
func (c *Contacts) username(ctx context.Context, client *whatsmeow.Client, of gateway.Party) (string, error) {
	var addresses []types.JID // the number first
	for _, address := range []gateway.JID{of.JID, of.LID} {
		if address == "" {
			continue
		}
		jid, err := wire.ToJID(address)
		if err != nil {
			return "", err
		}
		addresses = append(addresses, jid)
	}
	answer, err := client.DangerousInternals().Usync(ctx, addresses[:1], "query", "interactive", []waBinary.Node{{Tag: "username"}}) //nolint:staticcheck // the library has no other way to ask; the version is pinned
	if _, refused := wire.PlatformCode(err); refused {
		return "", nil
	}
	if err != nil {
		return "", wire.Failure(err)
	}
	name := usernameIn(answer)
	for _, address := range addresses {
		if err := keys.PutUsername(ctx, client.Store, address, name); err != nil {
			return "", err
		}
	}
	return name, nil
}

// usernameIn finds the username in an answer about one person; empty if there is none, or
// something that can't be one.
func usernameIn(answer *waBinary.Node) string {
	user := answer.GetChildByTag("user")
	said := user.GetChildByTag("username")
	var name string
	switch content := said.Content.(type) {
	case []byte:
		name = string(content)
	case string:
		name = content
	}
	return Username(name)
}

// Username returns a foreign text if it can be a username, and else the empty text.
func Username(name string) string {
	allowed := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.'
	}
	if len(name) < minUsername || len(name) > maxUsername || strings.ContainsFunc(name, func(c rune) bool { return !allowed(c) }) {
		return ""
	}
	return name
}

// maxUsernames bounds of how many messages of a session the usernames are held: as many as whatsmeow
// reads ahead, so those that were not handled yet are among them. Of more, the oldest are forgotten.
const maxUsernames = 2048

// Usernames are those of the senders of the messages that were read last. The zero value has none. It
// is safe for concurrent use.
type Usernames struct {
	mu    sync.Mutex
	names *lru.Cache[usernameOf, string] // nil: none was ever put
}

// usernameOf names a message. Different people may choose the same identifier.
type usernameOf struct {
	sender types.JID
	id     string
}

// NodeRead notes the username that comes with a message, which the library leaves out of its event.
func (u *Usernames) NodeRead(node *waBinary.Node) {
	if node.Tag != "message" {
		return
	}
	attrs := node.AttrGetter()
	sender, said := attrs.OptionalJIDOrEmpty("participant"), attrs.OptionalString("participant_username")
	if sender.IsEmpty() {
		sender = attrs.OptionalJIDOrEmpty("from")
	}
	if said == "" {
		said = attrs.OptionalString("username")
	}
	if username := Username(said); username != "" {
		u.put(sender, attrs.OptionalString("id"), username)
	}
}

// put notes the username of the sender of a message.
func (u *Usernames) put(sender types.JID, messageID, username string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.names == nil {
		u.names, _ = lru.New[usernameOf, string](maxUsernames) // it fails for sizes below 1 alone
	}
	u.names.Add(usernameOf{sender.ToNonAD(), messageID}, username)
}

// Of returns the username that was noted with a message; empty for none. It stays noted: whatsmeow
// calls its handler once for every part of a message, and the first one may hold keys alone.
func (u *Usernames) Of(sender types.JID, messageID string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.names == nil {
		return ""
	}
	username, _ := u.names.Peek(usernameOf{sender.ToNonAD(), messageID})
	return username
}
