package session

import (
	"context"

	"github.com/recado-project/recado/internal/sandbox/load"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// deliverToLoad delivers a message to the phones among its targets, and returns the
// other targets, which are real clients.
func (s *Service) deliverToLoad(ctx context.Context, m outgoing) ([]target, error) {
	var clients []target
	for _, t := range m.targets {
		if t.device != 0 {
			clients = append(clients, t)
			continue
		}
		if t.account == m.sender.Account || !t.account.IsOnline() {
			continue
		}
		err := s.config.Load.Deliver(ctx, load.Message{
			ID: m.id, Sender: m.sender, To: t.account, Address: m.address, At: m.at, Size: len(wire.Content(t.encs[len(t.encs)-1])),
		})
		if err != nil {
			return nil, err
		}
	}
	return clients, nil
}
