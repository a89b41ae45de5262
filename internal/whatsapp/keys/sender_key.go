// The keys that members of groups encrypt with.

package keys

import "context"

const kindSenderKey = "sender key"

// The name of such a row begins with the member, so that all keys of a person are found.

// PutSenderKey writes a member's key for a group.
func (k *deviceKeys) PutSenderKey(ctx context.Context, group, user string, key []byte) error {
	k.rows.put(ctx, kindSenderKey, nameOf(user, group), key)
	return k.rows.save(ctx)
}

// GetSenderKey returns a member's key for a group; nil if there is none.
func (k *deviceKeys) GetSenderKey(ctx context.Context, group, user string) ([]byte, error) {
	return k.rows.get(ctx, kindSenderKey, nameOf(user, group))
}
