// Keys in a backup, and which of them may be used again.

package keys

// KeptOverRestore reports whether the rows of a kind are restored from a backup. The device
// went on after the backup: what its Signal sessions, its own sender keys and its one-time
// keys were then has been used since, and a key that is used twice makes messages unreadable.
// Without them, the device begins new conversations under the same identity: it fetches keys
// before it writes, and asks for a message again that it can't read.
func KeptOverRestore(kind string) bool {
	switch kind {
	case kindSession, kindSenderKey, kindPreKey:
		return false
	default:
		return true
	}
}
