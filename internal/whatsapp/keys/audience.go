// Who is not listed while a status post is sent.

package keys

import (
	"context"

	"go.mau.fi/whatsmeow/types"
)

type leftOutKey struct{}

// LeavingOut returns a context in which GetAllContacts does not list people. The library sends a
// status post to everybody who is listed, and knows those who must not see it by one address
// alone, which may not be the one of the list.
func LeavingOut(ctx context.Context, people map[types.JID]struct{}) context.Context {
	return context.WithValue(ctx, leftOutKey{}, people)
}

// leaveOut takes those out of a list whom LeavingOut has named.
func leaveOut(ctx context.Context, all map[types.JID]types.ContactInfo) {
	people, _ := ctx.Value(leftOutKey{}).(map[types.JID]struct{})
	for who := range people {
		delete(all, who)
	}
}
