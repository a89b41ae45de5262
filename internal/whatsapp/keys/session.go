package keys

import (
	"context"
	"maps"
	"slices"
)

// GetSession returns the session with one address, nil where there is none.
func (c *cache) GetSession(ctx context.Context, address string) ([]byte, error) {
	if session, ok := c.sessions.Get(address); ok {
		return session, nil
	}
	since := c.seen()
	session, err := c.AllSessionSpecificStores.GetSession(ctx, address)
	if err == nil && session != nil {
		c.keep(since, func() { c.sessions.Add(address, session) })
	}
	return session, err
}

// HasSession reports whether there is a session with the address.
func (c *cache) HasSession(ctx context.Context, address string) (bool, error) {
	if c.sessions.Contains(address) {
		return true, nil
	}
	return c.AllSessionSpecificStores.HasSession(ctx, address)
}

// GetManySessions returns the sessions with the addresses, nil for those that
// have none. A send begins with it.
func (c *cache) GetManySessions(ctx context.Context, addresses []string) (map[string][]byte, error) {
	send := c.beginSending(ctx)
	found, err := c.readSessions(ctx, addresses)
	if err == nil && send != nil && !send.keeps && slices.ContainsFunc(addresses, func(a string) bool { return found[a] == nil }) {
		send.letGo(addresses)
	}
	return found, err
}

func (c *cache) readSessions(ctx context.Context, addresses []string) (map[string][]byte, error) {
	found := make(map[string][]byte, len(addresses))
	var missing []string
	for _, address := range addresses {
		if session, ok := c.sessions.Get(address); ok {
			found[address] = session
		} else {
			missing = append(missing, address)
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	since := c.seen()
	rest, err := c.AllSessionSpecificStores.GetManySessions(ctx, missing)
	if err != nil {
		return nil, err
	}
	c.keep(since, func() {
		for address, session := range rest {
			if session != nil {
				c.sessions.Add(address, session)
			}
		}
	})
	maps.Copy(found, rest)
	return found, nil
}

// PutSession writes one session, as it is after a decryption.
func (c *cache) PutSession(ctx context.Context, address string, session []byte) error {
	before, err := c.GetSession(ctx, address)
	if err != nil {
		return err
	}
	if session, err = mendSession(before, session); err != nil {
		return err
	}
	return c.PutManySessions(ctx, map[string][]byte{address: session})
}

// PutManySessions writes sessions, all or none; it ends the part of a send that needs the
// ratchet. The sessions are safe from a loss of power before anything is sent that was
// encrypted with them.
//
// Its error is errSessionMoved if a send had to release the ratchet and another message
// has moved one of its sessions since: then nothing is written, and nothing was sent.
func (c *cache) PutManySessions(ctx context.Context, sessions map[string][]byte) error {
	send, _ := ctx.Value(sendingKey{}).(*sending)
	if send != nil {
		if err := send.takeAgain(); err != nil {
			return err
		}
	}
	err := c.putSessions(ctx, sessions)
	c.moved(send, maps.Keys(sessions))
	if send != nil {
		send.end()
	}
	if err != nil || ctx.Value(receivingKey{}) != nil {
		return err
	}
	return c.sync(ctx)
}

func (c *cache) putSessions(ctx context.Context, sessions map[string][]byte) error {
	since := c.begin()
	for address := range sessions {
		c.sessions.Remove(address)
	}
	if err := c.AllSessionSpecificStores.PutManySessions(ctx, sessions); err != nil {
		return err
	}
	c.keep(since, func() {
		for address, session := range sessions {
			c.sessions.Add(address, session)
		}
	})
	return nil
}

// DeleteAllSessions deletes the sessions with all devices of a person.
func (c *cache) DeleteAllSessions(ctx context.Context, phone string) error {
	defer c.forget()
	return c.AllSessionSpecificStores.DeleteAllSessions(ctx, phone)
}

// DeleteSession deletes one session.
func (c *cache) DeleteSession(ctx context.Context, address string) error {
	defer c.forget()
	return c.AllSessionSpecificStores.DeleteSession(ctx, address)
}
