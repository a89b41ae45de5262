// The names by which people are found without their numbers.

package contacts

import (
	"context"
	"strings"

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
