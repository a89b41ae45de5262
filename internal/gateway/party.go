package gateway

// Party is a person or group under both of its addresses; one may be unknown,
// and a group has only its chat ID.
type Party struct {
	JID  JID
	LID  JID
	Name string // display name where known
}

// Is reports whether address is one of the party's.
func (p Party) Is(address JID) bool {
	return address != "" && (address == p.JID || address == p.LID)
}

// Address is the address that messages to the party are sent to: the number if it is
// known, else the LID.
func (p Party) Address() JID {
	if p.JID != "" {
		return p.JID
	}
	return p.LID
}

// Key is the address that keys and the order of events use: the LID if it is known, else
// the number. It stays the same when the number becomes known.
func (p Party) Key() JID {
	if p.LID != "" {
		return p.LID
	}
	return p.JID
}

func (p Party) cleaned() Party {
	p.Name = CleanName(p.Name)
	return p
}
