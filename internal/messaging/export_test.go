package messaging

import (
	"context"

	"github.com/recado-project/recado/internal/gateway"
)

// NewWithout makes a service without the parts that a test does not use.
func NewWithout(config Config) *Service { return &Service{config: config} }

// Turn waits for the turn of a message or a change.
func (s *Service) Turn(ctx context.Context, instanceID string) (done func(), err error) {
	return s.turn(ctx, instanceID)
}

// ChosenBy returns the ID of the option of a menu that a text names; empty for none.
func ChosenBy(text string, options ...string) string {
	var menu gateway.Menu
	for _, option := range options {
		menu.Options = append(menu.Options, gateway.MenuOption{ID: "id of " + option, Text: option})
	}
	option, _ := chosenBy(text, menu)
	return option.ID
}

// MarkDue marks as read what is due of an instance.
func (s *Service) MarkDue(ctx context.Context, instanceID string) { s.markDue(ctx, instanceID) }
