// The names by which people are found without their numbers.

package contacts

import (
	"context"
	"strings"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// The bounds of a username, in characters, by the rules of the messenger's own clients.
const (
	minUsername = 3
	maxUsername = 35
)

// username asks for the username of somebody; empty for none, and where the platform knows no
// usernames yet. The library reads them nowhere.
func username(ctx context.Context, client *whatsmeow.Client, of types.JID) (string, error) {
	answer, err := client.DangerousInternals().Usync(ctx, []types.JID{of}, "query", "interactive", []waBinary.Node{{Tag: "username"}}) //nolint:staticcheck // see above; the version is pinned
	if _, refused := wire.PlatformCode(err); refused {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return usernameIn(answer), nil
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
	allowed := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.'
	}
	if len(name) < minUsername || len(name) > maxUsername || strings.ContainsFunc(name, func(c rune) bool { return !allowed(c) }) {
		return ""
	}
	return name
}
